// Drawings that cost the worker more than their size suggests.
import {
  drawing,
  fanOut,
  http,
  link,
  llm,
  node,
  trigger,
  agent,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import type { Envelope } from '../../../harness/client/api-client.js';
import type { Attack } from '../harness/attack.js';
import { flood, keepRunning, repeat } from '../harness/tenant.js';

/** Each run waits a second for its calls. The rest allows for the other runs of a busy machine. */
const COLLIDING_RUNS_END_WITHIN_S = 6;
const ENDLESS = 'for (;;) {}';

/** A loop over `count` items. */
function forEach(count: number, body: DrawingNode[], data: object = {}): object {
  const items = Array.from({ length: count }, (_, index) => index);
  const loop = node('for_each', {
    items,
    body_node: body[0]!.id,
    concurrency: 20,
    max_items: count,
    on_item_error: 'skip',
    output: '',
    ...data,
  });
  const start = trigger();
  link(start, loop);
  return drawing([start, loop, ...body]);
}

/** A node with fifty patterns, each of which takes as many steps as a pattern may. */
function patterns(): DrawingNode {
  const cases = Array.from({ length: 50 }, (_, index) => ({
    id: `case ${index}`,
    condition: { left: 'x'.repeat(7_900), operator: 'matches', right: `[xy]*[xy]{980}${index}z` },
    node: null,
  }));
  return node('switch', { cases, mode: 'all', default_node: null });
}

/** A schema in which each level refers to the one below twice. */
function schemaTower(height: number): object {
  const levels = Array.from({ length: height }, (_, level) => {
    const below = { $ref: `#/$defs/l${level - 1}` };
    return [`l${level}`, level === 0 ? { type: ['object', 'array', 'string', 'number'] } : { allOf: [below, below] }];
  });
  return { $defs: Object.fromEntries(levels) as object, $ref: `#/$defs/l${height - 1}` };
}

const asksFor = (schema: object, name: string): DrawingNode =>
  llm('Go', {
    settings: {
      model_name: 'hostile-form',
      response_format: { type: 'json_schema', json_schema: { name, schema, strict: false } },
    },
  });

export const drawingAttacks: Attack[] = [
  {
    name: 'patterns-in-loops',
    title: 'Two hundred iterations of a switch with 50 patterns at the limit of steps.',
    heldBy: 'A node has a limit of steps, in a process beside the worker.',
    isShort: true,
    act: (tenant) => keepRunning(tenant, 1, forEach(200, [patterns()])),
  },
  {
    name: 'patterns-of-four',
    title: 'The same in plain drawings of four tenants at once.',
    heldBy: 'The same.',
    tenants: 4,
    act: (tenant) => keepRunning(tenant, 2, fanOut(10, patterns)),
  },
  {
    name: 'colliding-ids',
    title: 'An agent with the node id `a` beside an HTTP node with the id `a/0`.',
    heldBy: 'Ids are encoded in the names of activities.',
    async act({ api, projectId, outside, count }) {
      const asked = agent('Go', { model_name: 'hostile-pause' }, []);
      const beside = http(`${outside}/pause/1000`);
      const named = ({ data, ...rest }: DrawingNode, id: string): DrawingNode => ({
        ...rest,
        id,
        data: { ...data, id },
      });
      const start = trigger();
      const nodes = [named(asked, 'a'), named(beside, 'a/0')];
      link(start, nodes);
      const workflow = await api.createWorkflow(projectId, drawing([start, ...nodes]));
      const headers = { prefer: `wait=${COLLIDING_RUNS_END_WITHIN_S}` };
      const runs = Array.from({ length: 10 }, () =>
        api.post<Envelope>(`/workflows/${workflow}/run/`, { body: {}, headers }),
      );
      const statuses = (await Promise.all(runs)).map(({ body }) => body.data.status);
      for (const status of statuses) count(status);
      const open = statuses.filter((status) => status.startsWith('in '));
      if (open.length > 0) throw new Error(`${open.length} of 10 runs do not end`);
    },
  },
  {
    name: 'deep-schemas',
    title: 'Schemas of answers that double the work with each level, and one with `$async`.',
    heldBy: 'Schemas are checked in a process with a time limit; `$async` is refused.',
    tenants: 2,
    act: (tenant) =>
      keepRunning(
        tenant,
        2,
        fanOut(10, (index) =>
          asksFor(index % 5 === 0 ? { $async: true, type: 'object' } : schemaTower(20 + index), `form_${index}`),
        ),
      ),
  },
  {
    name: 'code-that-loops',
    title: 'Code nodes of four tenants that loop until they are killed.',
    heldBy: 'A process of its own with a low priority, and a share of the processes for each project.',
    tenants: 4,
    act: (tenant) =>
      keepRunning(
        tenant,
        2,
        fanOut(10, () => node('code', { code: ENDLESS, settings: { timeout: 30 } })),
      ),
  },
  {
    name: 'code-that-grows',
    title: 'Code nodes that take all the memory that they get.',
    heldBy: '64 MiB a program.',
    tenants: 2,
    act: (tenant) => {
      const code = 'const all = []; for (;;) all.push(new Uint8Array(1024 * 1024).fill(1));';
      return keepRunning(
        tenant,
        3,
        fanOut(10, () => node('code', { code })),
      );
    },
  },
  {
    name: 'ten-thousand-items',
    title: 'For-each nodes of 10,000 items.',
    heldBy: '20 iterations side by side; each run has its share.',
    tenants: 2,
    act: (tenant) => keepRunning(tenant, 2, forEach(10_000, [node('set', { value: '{{ input }}' })])),
  },
  {
    name: 'wide-drawings',
    title: 'Runs of 4,000 nodes side by side.',
    heldBy: '5,000 nodes a drawing, 32 in flight.',
    act: (tenant) =>
      keepRunning(
        tenant,
        3,
        fanOut(4_000, () => node('set', { value: 'x' })),
      ),
  },
  {
    name: 'runs-that-start-runs',
    title: 'A workflow that starts itself three times, ten levels deep.',
    heldBy: '10 levels, 10,000 runs below one.',
    async act(tenant) {
      const { api, projectId } = tenant;
      const workflow = await api.createWorkflow(projectId, drawing([trigger()]));
      await api.patch(`/workflows/${workflow}/`, {
        body: { data: fanOut(3, () => node('workflow', { workflow_id: workflow })) },
      });
      await repeat(tenant, 2, async () => {
        tenant.count(`run ${(await api.run(workflow)).status}`);
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      });
    },
  },
  {
    name: 'human-tasks',
    title: 'Thousands of human tasks and callbacks that nobody answers, and lists of them.',
    heldBy: 'Waiting costs no slot; lists have pages.',
    act: (tenant) =>
      Promise.all([
        keepRunning(tenant, 2, forEach(1_000, [node('human', { message: 'Well? '.repeat(1_000) })])),
        keepRunning(
          tenant,
          2,
          fanOut(1_000, () => node('wait', { mode: 'callback' })),
        ),
        flood(tenant, 8, { as: 'session', path: '/api/v1/human-tasks/?status=pending&size=100' }),
      ]),
  },
  {
    name: 'refused-wakes',
    title: 'Callbacks that are answered in the moment in which their runs are cancelled.',
    heldBy: 'A wake that is refused waits longer each time.',
    async act(tenant) {
      const { api, projectId } = tenant;
      const waits = Array.from({ length: 30 }, () => node('wait', { mode: 'callback' }));
      const start = trigger();
      const urls = node('set', { value: waits.map(({ id }) => `{{ ${id}.callback_url }}`) });
      link(start, [urls, ...waits]);
      const workflow = await api.createWorkflow(projectId, drawing([start, urls, ...waits]));
      await repeat(tenant, 4, async () => {
        const run = (await api.run(workflow)).data.id;
        const answer = await api.get<{
          data: { data: Record<string, { result?: { value?: string[] }; waiting?: { callback_url?: string } }> };
        }>(`/workflows/workflow_result/?id=${run}`, { headers: { prefer: 'wait=1' } });
        const found = Object.values(answer.body.data.data ?? {}).flatMap(({ waiting }) => waiting?.callback_url ?? []);
        const calls = found.map((url) => fetch(url, { method: 'POST', body: 'x' }));
        const cancel = api.post(`/workflows/${workflow}/history/${run}/cancel/`);
        for (const each of await Promise.allSettled([...calls, cancel]))
          tenant.count(each.status === 'fulfilled' ? each.value.status : 'error');
      });
    },
  },
];
