// Tests the export and import of workflows as files (docs/use/porting.md).
import assert from 'node:assert/strict';
import { createApiClient, type ApiAnswer, type ApiClient } from '../../../harness/client/api-client.js';
import {
  agent,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  mcp,
  node,
  trigger,
  type Drawing,
} from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createFileClient } from '../../support/upload.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import { mutatedFile } from '../../n8n/mutated-files.js';

const MASK = '********';
const SECRET = 'sk-live-7d1f0b2a9c';

interface Exported {
  format: string;
  title: string;
  description: string;
  data: Drawing;
  workflows: { id: number; title: string }[];
}

interface Imported {
  id: number;
  project: number;
  title: string;
  short_description: string;
  data: Drawing;
  warnings: { node: string | null; message: string }[];
}

const N8N = {
  name: 'From n8n',
  nodes: [
    { id: 'a', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, position: [0, 0], parameters: {} },
  ],
  connections: {},
};

/** Wraps the file in an object for each name; the first name is the outermost one. */
function framed(file: object, ...names: string[]): object {
  return names.reduceRight((inner, name) => ({ [name]: inner }), file);
}

describe('export and import', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let project: number;

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
  });

  it('a file keeps the values of the files that its drawing names, and an import empties them and says so', async () => {
    const stack = await sharedStack();
    const paper = await createFileClient(stack).upload(project, 'paper', 'paper.txt');
    const send = http('https://example.com/', {
      label: 'Send',
      method: 'POST',
      body: { $form: { a: paper, b: 'text' } },
    });
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), send])), 'Sends');
    const { body: exported } = await exportOf(id);
    assert.deepEqual(exported.data.nodes[1]!.data['body'], { $form: { a: paper, b: 'text' } });
    const { body } = await api.post<Imported>(`/projects/${await api.createProject()}/import/`, { body: exported });
    assert.deepEqual(body.data.nodes[1]!.data['body'], { $form: { a: '', b: 'text' } });
    const message = 'Choose a file in place of "paper.txt", which stays in its project.';
    assert.deepEqual(body.warnings, [{ node: 'Send', message }]);
  });

  const exportOf = (id: number): Promise<ApiAnswer<Exported>> => api.get<Exported>(`/workflows/${id}/export/`);
  const importOf = (body: unknown, into = project): Promise<ApiAnswer<Imported>> =>
    api.post<Imported>(`/projects/${into}/import/`, { body });

  /** A drawing with every kind of place that holds a credential. */
  function secretive(): Drawing {
    const begin = trigger([{ id: 'key', type: 'text', is_secret: true, default_value: SECRET }, { id: 'topic' }]);
    const headers = { Authorization: `Bearer ${SECRET}`, 'X-Auth': SECRET, Accept: 'text/plain' };
    const call = http(`https://api.invalid/?again=${SECRET}`, { headers });
    const pure = http('https://api.invalid/', { headers: { Authorization: 'Bearer {{ input.key }}' } });
    const tool = mcp('https://mcp.invalid/', 'add', {}, { headers });
    const ask = agent('hello', {}, [{ endpoint_url: 'https://mcp.invalid/', headers: { ...headers } }]);
    return { ...drawing(linkInRow([begin, call, pure, tool, ask])), kept_by_editor: { zoom: 2.5 } };
  }

  it('masks every secret and credential header of every node, and keeps the rest', async () => {
    const given = secretive();
    const id = await api.createWorkflow(project, given, 'With “secrets” / ../x');
    const { status, headers, body } = await exportOf(id);
    assert.equal(status, 200);
    assert.equal(body.format, 'workflow-automation/1');
    assert.equal(body.title, 'With “secrets” / ../x');
    assert.ok(!JSON.stringify(body).includes(SECRET), JSON.stringify(body));
    const [begin, call, pure, tool, ask] = body.data.nodes.map(({ data }) => data);
    const masked = { Authorization: MASK, 'X-Auth': MASK, Accept: 'text/plain' };
    assert.equal((begin!['input_fields'] as { default_value: string }[])[0]!.default_value, MASK);
    assert.deepEqual([call!['headers'], tool!['headers']], [masked, masked]);
    assert.deepEqual((ask!['tools'] as { headers: object }[])[0]!.headers, masked);
    assert.deepEqual(pure!['headers'], { Authorization: 'Bearer {{ input.key }}' });
    assert.equal(call!['url'], `https://api.invalid/?again=${MASK}`);
    assert.deepEqual(body.data['kept_by_editor'], { zoom: 2.5 });
    assert.equal(
      headers.get('content-disposition'),
      `attachment; filename="With secrets x.json"; filename*=UTF-8''With%20secrets%20x.json`,
    );
  });

  it('imports what it has exported: the same drawing, but empty secrets, and says which', async () => {
    const given = secretive();
    const id = await api.createWorkflow(project, given, 'There and back');
    assert.equal((await api.patch(`/workflows/${id}/`, { body: { short_description: 'What it does' } })).status, 200);
    const exported = (await exportOf(id)).body;
    const { status, body } = await importOf(exported);
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual([body.project, body.title, body.short_description], [project, 'There and back', 'What it does']);
    const expected = JSON.parse(JSON.stringify(exported.data).replaceAll(`"${MASK}"`, '""')) as Drawing;
    assert.deepEqual(body.data, expected);
    const filled = body.warnings.map(({ node: label, message }) => `${label}: ${message}`);
    assert.deepEqual(filled, [
      'trigger: Fill in the default of the secret field "key": a file holds no credentials.',
      ...['http', 'mcp', 'agent'].flatMap((label) =>
        ['Authorization', 'X-Auth'].map(
          (name) => `${label}: Fill in the header "${name}": a file holds no credentials.`,
        ),
      ),
      'http: Replace ******** in its texts: a credential was hidden there.',
    ]);
    const check = await api.get<{ is_valid: boolean; warnings: { code: string }[] }>(
      `/workflows/${body.id}/check_workflow/`,
    );
    assert.equal(check.body.is_valid, true, JSON.stringify(check.body));
    assert.ok(
      check.body.warnings.every(({ code }) => code !== 'lost_secret'),
      JSON.stringify(check.body.warnings),
    );
  });

  it('gives back any drawing without secrets unchanged', async () => {
    const [begin, many, pick] = [trigger([{ id: 'topic' }]), llm('{{ input.topic }}'), node('switch', { cases: [] })];
    link(begin, [many, pick]);
    for (const data of [drawing([begin, many, pick]), { nodes: [{ id: 'x' }], anything: [1.5, null, ''] }]) {
      const exported = (await exportOf(await api.createWorkflow(project, data))).body;
      assert.deepEqual(exported.data, data);
      const { status, body } = await importOf(exported);
      assert.equal(status, 201);
      assert.deepEqual([body.data, body.warnings], [data, []]);
    }
  });

  it('takes a drawing with its title, and one without anything around it', async () => {
    const data = drawing([trigger()]);
    const titled = await importOf({ title: '  From an earlier console ', data });
    const bare = await importOf(data);
    assert.deepEqual([titled.status, titled.body.title, titled.body.data], [201, 'From an earlier console', data]);
    assert.deepEqual([bare.status, bare.body.title, bare.body.data], [201, 'Imported workflow', data]);
  });

  it('cuts a title that is too long, and never a character in two', async () => {
    const { body } = await importOf({ title: `${'x'.repeat(254)}😀`, data: drawing([trigger()]) });
    assert.equal(body.title, 'x'.repeat(254));
  });

  it('warns of workflows that the project does not have, and of others with their ids', async () => {
    const called = await api.createWorkflow(project, drawing([trigger()]), 'Called');
    const run = node('workflow', { workflow_id: called, label: 'Run it' });
    const tools = [{ type: 'workflow', workflow_id: called }];
    const ask = node('agent', { messages: [], settings: {}, tools, label: 'Ask' });
    const exported = (await exportOf(await api.createWorkflow(project, drawing([trigger(), run, ask])))).body;
    assert.deepEqual(exported.workflows, [{ id: called, title: 'Called' }]);
    assert.deepEqual((await importOf(exported)).body.warnings, []);
    const elsewhere = (await importOf(exported, await api.createProject())).body.warnings;
    const message = `Choose the workflow that it runs: this project has no workflow ${called}, "Called".`;
    assert.deepEqual(elsewhere, [
      { node: 'Run it', message },
      { node: 'Ask', message },
    ]);
    await api.patch(`/workflows/${called}/`, { body: { title: 'Another one' } });
    const [renamed] = (await importOf(exported)).body.warnings;
    assert.equal(
      renamed!.message,
      `Check the workflow that it runs: the id ${called} is that of "Another one" here, and was that of "Called".`,
    );
  });

  it('stores a secret that a file gives in plain text as any other, and shows it to nobody', async () => {
    // Members see a token in an address of their drawing, because the service cannot recognise it.
    const data: unknown = JSON.parse(JSON.stringify(secretive()).replace(`?again=${SECRET}`, ''));
    const { body } = await importOf({ title: 'By hand', data });
    const paths = ['', 'export/', 'versions/', 'versions/1/', 'check_workflow/', 'input-fields/'];
    const answers = await Promise.all(paths.map((path) => api.get(`/workflows/${body.id}/${path}`)));
    for (const [at, { status, body: answer }] of answers.entries()) {
      assert.equal(status, 200, paths[at]);
      assert.ok(!JSON.stringify(answer).includes(SECRET), `${paths[at]}: ${JSON.stringify(answer)}`);
    }
    assert.ok(!JSON.stringify(body).includes(SECRET), JSON.stringify(body));
    assert.deepEqual(body.warnings, []);
  });

  it('takes the export of an empty drawing, and of one without a list of nodes', async () => {
    for (const data of [{}, { nodes: [], edges: [] }]) {
      const id = await api.createWorkflow(await api.createProject(), data, 'Not begun');
      const exported = await api.get<object>(`/workflows/${id}/export/`);
      const { status, body } = await importOf(exported.body);
      assert.deepEqual([status, body.data, body.warnings], [201, data, []]);
    }
  });

  const wrapped: [what: string, body: unknown, title?: string][] = [
    ['a list of one, as its command line writes it', [N8N]],
    ['`workflow`', framed(N8N, 'workflow')],
    ['`data`', framed(N8N, 'data')],
    ['a list in `data`', { data: [N8N], nextCursor: null }],
    ['three objects, one in the other', [framed(N8N, 'data', 'workflow', 'workflow')]],
    ['a frame that has the name', { workflow: { name: 'Outer', workflow: { ...N8N, name: undefined } } }, 'Outer'],
    ['a frame without a name', { workflow: { ...N8N, name: undefined } }, 'Imported workflow'],
  ];
  for (const [what, body, title = 'From n8n'] of wrapped) {
    it(`takes a file of n8n within ${what}`, async () => {
      const { status, body: made } = await importOf(body);
      assert.equal(status, 201, JSON.stringify(made));
      assert.deepEqual([made.title, made.data.nodes.map(({ data }) => data['label'])], [title, ['Start']]);
    });
  }

  it('takes a list of one file of this service, with the title beside its drawing', async () => {
    const own = { title: 'Own', data: drawing([trigger()]) };
    const { status, body } = await importOf([own]);
    assert.deepEqual([status, body.title, body.data.nodes.length], [201, 'Own', 1]);
  });

  const node1 = { id: 'a', type: 'trigger-node', data: {} };
  const refused: [what: string, body: unknown, field: string, message: RegExp][] = [
    ['a list', [], 'non_field_errors', /^The file is no JSON object\.$/],
    [
      'several workflows',
      [N8N, N8N],
      'non_field_errors',
      /^The file is a list of 2 workflows\. Import them one by one\.$/,
    ],
    ['several workflows in a frame', { data: [N8N, N8N] }, 'non_field_errors', /list of 2 workflows/],
    ['a workflow of n8n in too many frames', framed(N8N, 'data', 'workflow', 'data', 'workflow'), 'nodes', /no nodes/],
    ['an unknown format', { format: 'other/1', data: { nodes: [node1] } }, 'format', /"other\/1" is not known/],
    ['a later version', { format: 'workflow-automation/2', data: { nodes: [node1] } }, 'format', /not known/],
    ['a format that is no text', { format: 3, data: { nodes: [node1] } }, 'format', /not known/],
    ['no drawing', { format: 'workflow-automation/1', title: 'x' }, 'data', /required/],
    ['a drawing that is no object', { format: 'workflow-automation/1', data: 'x' }, 'data', /Expected a JSON object/],
    ['no nodes', { title: 'x', data: {} }, 'nodes', /^The file has no nodes\.$/],
    ['nodes that are no list', { data: { nodes: { a: node1 } } }, 'nodes', /^The nodes of the file are no list\.$/],
    [
      'a node that is no object',
      { data: { nodes: [node1, null] } },
      'nodes',
      /^The entry 2 of the nodes is no object\.$/,
    ],
    [
      'a node of a file of this service that is no object',
      { format: 'workflow-automation/1', data: { nodes: ['x'] } },
      'nodes',
      /^The entry 1 of the nodes is no object\.$/,
    ],
    [
      'a node of n8n that is no object',
      { nodes: [{ name: 'a', type: 'n8n-nodes-base.noOp' }, [1]], connections: {} },
      'nodes',
      /^The entry 2 of the nodes is no object\.$/,
    ],
    ['an empty list of nodes', { data: { nodes: [] } }, 'nodes', /no nodes/],
    ['nothing', {}, 'data', /required/],
    ['a title that is no text', { title: 3, data: { nodes: [node1] } }, 'title', /Not a valid string/],
    [
      'too many nodes',
      { data: { nodes: Array.from({ length: 5001 }, () => node1) } },
      'nodes',
      /5001 nodes; a drawing has at most 5000/,
    ],
    [
      'too many nodes of n8n',
      {
        nodes: Array.from({ length: 5001 }, (_, n) => ({ name: `${n}`, type: 'n8n-nodes-base.noOp' })),
        connections: {},
      },
      'nodes',
      /at most 5000/,
    ],
    [
      'a file of n8n that would become too many',
      {
        nodes: Array.from({ length: 4000 }, (_, n) => ({
          name: `${n}`,
          type: 'n8n-nodes-base.httpRequest',
          typeVersion: 4,
          parameters: {
            url: 'x',
            sendQuery: true,
            queryParameters: { parameters: [{ name: 'a', value: '={{ $json.a }}' }] },
          },
        })),
        connections: Object.fromEntries(
          Array.from({ length: 3999 }, (_, n) => [`${n}`, { main: [[{ node: `${n + 1}`, type: 'main', index: 0 }]] }]),
        ),
      },
      'nodes',
      /would become more than 5000 nodes/,
    ],
  ];
  for (const [what, body, field, message] of refused) {
    it(`refuses ${what} with a 400 that names it`, async () => {
      const answer = await api.post<Record<string, string[]>>(`/projects/${project}/import/`, { body });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body), [field]);
      assert.match(answer.body[field]![0]!, message);
    });
  }

  it('refuses what is too deep, too large, or no JSON, like every other body', async () => {
    const send = (text: string) => api.post<{ code: string }>(`/projects/${project}/import/`, { text });
    const deep = `{"nodes": [${'['.repeat(300)}${']'.repeat(300)}]}`;
    const answers = [
      await send(deep),
      await send('{"nodes": ['),
      await send(`{"nodes": ["${'x'.repeat(11_000_000)}"]}`),
    ];
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [400, 'parse_error'],
        [400, 'parse_error'],
        [413, 'body_too_large'],
      ],
    );
  });

  it('answers 200 mutated files of n8n with a drawing that compiles or a 400, never with a 500', async () => {
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 200; seed += 1) {
      const { status, body } = await api.post<Imported>(`/projects/${project}/import/`, { text: mutatedFile(seed) });
      counts.set(status, (counts.get(status) ?? 0) + 1);
      assert.ok(status === 201 || status === 400, `seed ${seed}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
      if (status !== 201 || body.data['viewport'] === undefined) continue;
      const compiled = compilePlan(body.data);
      assert.ok(compiled.ok, `seed ${seed}: ${JSON.stringify(compiled)}`);
    }
    assert.ok(counts.get(201)! > 100, JSON.stringify([...counts]));
  });
});
