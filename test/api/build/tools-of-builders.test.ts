// The requests that the tools of assistants send to the routes, and what they show of the answers. The routes are
// stubs.
import assert from 'node:assert/strict';
import { describeAction } from '../../../api/build/action-tools.js';
import { listConnections } from '../../../api/build/connection-tools.js';
import { showRun } from '../../../api/build/run-entries.js';
import { testWorkflow } from '../../../api/build/test-workflow.js';
import type { ToolContext } from '../../../api/build/tool.js';
import { firstOf } from '../../../api/build/workflow-tools.js';
import type { InnerAnswer, InnerRequest } from '../../../api/dispatch/inner-call.js';
import { ApiError } from '../../../api/http/errors.js';
import type { ShortNode } from '../../../graph/building/short-form.js';
import type { JsonObject } from '../../../graph/json.js';

const memory = { take: () => Promise.resolve() } as unknown as InnerAnswer['memory'];

/** Returns a context whose calls are answered by `routes`. Its keys are the methods and paths of routes. */
function contextOf(routes: Record<string, (request: InnerRequest) => unknown>): ToolContext {
  const call = (name: string, request: InnerRequest = {}): Promise<InnerAnswer> => {
    const body = routes[name]!(request);
    return Promise.resolve({ status: name.endsWith('/test/') ? 201 : 200, headers: {}, body, memory });
  };
  const calls = {
    admit: () => Promise.resolve(),
    call,
    json: async (name: string, request: InnerRequest) => (await call(name, request)).body,
    read: (answer: InnerAnswer) => Promise.resolve(answer.body),
    end: () => undefined,
  };
  return { calls, caller: {}, deps: {}, signal: new AbortController().signal } as unknown as ToolContext;
}

const RUN = 'GET /api/v1/runs/:run_id/';
const DRAFT = 'GET /api/v1/workflows/:id/draft/';
const POLL = 'GET /api/v1/workflows/workflow_result/';
const facts = { workflow: { id: 1 }, cost: { USD: '0' }, error: null };

describe('test_workflow', () => {
  const drawingOf = (url: string): JsonObject => ({
    nodes: [
      { id: 'start', type: 'trigger-node', data: {} },
      { id: 'get', type: 'http-node', data: { url, headers: { authorization: '********' } } },
    ],
    start_node: 'start',
  });

  async function sent(draft?: JsonObject): Promise<JsonObject[]> {
    const bodies: JsonObject[] = [];
    const context = contextOf({
      'GET /api/v1/workflows/:id/': () => ({ title: 'T', project: 1, version: 5, data: drawingOf('https://one.test') }),
      [DRAFT]: () => {
        if (draft === undefined) throw new ApiError(404, 'not_found', 'There is no draft.');
        return { data: draft, base_version: 5 };
      },
      'POST /api/v1/workflows/:id/estimate/': ({ body }) => {
        bodies.push(body as JsonObject);
        return { calls: [] };
      },
      'POST /api/v1/workflows/:id/test/': ({ body }) => {
        bodies.push(body as JsonObject);
        return { data: { id: 'run' } };
      },
      [POLL]: () => ({ data: { status: 'succeed', data: {} } }),
      [RUN]: () => facts,
    });
    await testWorkflow.run(context, { id: 1, mode: 'from' });
    return bodies;
  }

  it('tests the drawing that was estimated, although another version may be saved in between', async () => {
    for (const body of await sent()) {
      assert.deepEqual([body['drawing'], 'from_draft' in body], [drawingOf('https://one.test'), false]);
    }
  });

  it('sends a draft as one', async () => {
    const draft = drawingOf('https://draft.test');
    for (const body of await sent(draft)) assert.deepEqual([body['drawing'], body['from_draft']], [draft, true]);
  });
});

describe('the nodes of a run that a tool shows', () => {
  it('have `until` and `pool` of a wait only where it has them', async () => {
    const waits = [
      { for: 'worker', pool: 'office' },
      { for: 'time', until: '2030-01-01T00:00:00Z' },
      { for: 'connection' },
    ];
    const entries = Object.fromEntries(
      waits.map((waiting, index) => [`n${index}`, { id: `n${index}`, status: 'in progress', waiting }]),
    );
    const context = contextOf({ [RUN]: () => facts });
    const answer = { status: 200, headers: {}, body: {}, memory };
    const { nodes } = await showRun(context, 'run', { status: 'in progress', entries, answer });
    assert.deepEqual(
      nodes.map(({ waiting }) => waiting),
      waits,
    );
  });
});

describe('the connections of a project with more than 100', () => {
  const connections = Array.from({ length: 250 }, (_, index) => ({
    id: index,
    name: `c${index}`,
    kind: 'bearer',
    status: 'ok',
    origins: [index === 249 ? 'https://api.example.com' : 'https://o.test'],
  }));
  const routes = {
    'GET /api/v1/projects/:id/connections/': ({ query }: InnerRequest) => {
      const [size, page] = [Number(query!['size']), Number(query!['page'] ?? 1)];
      return { items: connections.slice((page - 1) * size, page * size), total: connections.length };
    },
    'GET /api/v1/services/:service_id/actions/:action_id/': () => ({
      id: 'a',
      title: 'A',
      description: '',
      method: 'GET',
      path: '/a',
      server: 'https://api.example.com',
      has_side_effects: false,
      fields: { type: 'object', properties: {} },
    }),
  };

  it('are listed as far as an answer has room', async () => {
    const { items, total } = (await listConnections.run(contextOf(routes), { project: 1 })) as {
      items: { id: number }[];
      total: number;
    };
    assert.ok(items.length > 100 && total === 250, `${items.length} of ${total}`);
  });

  it('are all searched for one that fits an action', async () => {
    const { example } = await describeAction(contextOf(routes), { service: 's', action: 'a', project: 1 });
    assert.match(JSON.stringify(example), /"connection":249/);
  });

  it('are not needed to describe an action to a viewer, who may not see them', async () => {
    const listing = 'GET /api/v1/projects/:id/connections/';
    const described = (error: ApiError): ReturnType<typeof describeAction> => {
      const refusing = { ...routes, [listing]: () => assert.fail(error) };
      return describeAction(contextOf(refusing), { service: 's', action: 'a', project: 1 });
    };
    const { title, example } = await described(new ApiError(403, 'permission_denied', 'No.'));
    assert.equal(title, 'A');
    assert.doesNotMatch(JSON.stringify(example), /"connection"/);
    await assert.rejects(described(new ApiError(404, 'not_found', 'Not found.')), { status: 404 });
  });
});

describe('a node that is too long for an answer', () => {
  const nodeWith = (data: JsonObject, next: string[]): ShortNode => {
    return { id: 'a', kind: 'set-node', label: 'A', data, next };
  };
  /** Forty such fields are too long even when each is shortened. */
  const data = Object.fromEntries(
    Array.from({ length: 40 }, (_, field) => [`field${field}`, Array.from({ length: 20 }, () => 'x'.repeat(1_000))]),
  );

  it('is shown with its links, or says that these are cut', () => {
    const after = nodeWith({}, []);
    const { nodes, next_after } = firstOf([nodeWith(data, ['b', 'c']), after]);
    assert.deepEqual(nodes, [{ ...nodeWith({}, ['b', 'c']), is_cut: true }]);
    assert.equal(next_after, 'a');
    const many = Array.from({ length: 1_000 }, (_, target) => `the-target-with-the-number-${target}`);
    const [bare] = firstOf([nodeWith(data, many), after]).nodes;
    assert.deepEqual(bare, { ...nodeWith({}, []), is_cut: true, is_next_cut: true });
  });
});
