import assert from 'node:assert/strict';
import { createApiClient } from '../../harness/client/api-client.js';
import { createClientProject, type ClientProject } from '../support/client-package.js';
import { chain, drawing, link, llm, trigger } from '../../harness/drawing/drawing.js';
import { sharedStack } from '../support/shared-stack.js';
import { mustRun, personsEnvironment } from '../support/shell.js';
import type { TestStack } from '../../harness/stack/stack.js';

/** The compiler options of a strict project, which also checks the types of its dependencies. */
const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022'];

const IMPORT = `import { contentOf, createClient, runToEnd, RunRefusedError, ServiceError, unwrap } from 'workflow-automation-client';`;

const PROGRAM = `
async function main(): Promise<void> {
  const [workflowId = '', nodeId = '', brokenId = ''] = process.argv.slice(2);
  const { API_URL = '', API_KEY = '' } = process.env;
  const client = createClient({ baseUrl: API_URL, apiKey: API_KEY });
  const run = await runToEnd(client, Number(workflowId), { name: 'Ada' }, { pollIntervalMs: 500 });
  const history = await unwrap(
    client.GET('/api/v1/workflows/{id}/history/{run_id}/', {
      params: { path: { id: Number(workflowId), run_id: run.id } },
    }),
  );
  const refused = await runToEnd(client, Number(brokenId)).catch((error: unknown) => error);
  const missing = await unwrap(
    client.GET('/api/v1/workflows/{id}/', { params: { path: { id: 2_000_000_000 } } }),
  ).catch((error: unknown) => error);
  console.log(JSON.stringify({
    status: run.status,
    content: contentOf(run, nodeId),
    cost: history.cost['USD'],
    refused: refused instanceof RunRefusedError && refused.nodeErrors,
    missing: missing instanceof ServiceError && missing.code,
  }));
}

void main();
`;

describe('the TypeScript client as a package', function () {
  this.timeout(180_000);
  let project: ClientProject;
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
    // This also fails if the committed types are not those of the current OpenAPI document.
    project = await createClientProject();
    project.write('main.ts', IMPORT + PROGRAM);
    project.write('common.cts', IMPORT + PROGRAM);
  });
  after(() => project?.remove());

  it('compiles in a strict project: node16 and nodenext, as ES module and as CommonJS, and for bundlers', async () => {
    for (const resolution of ['node16', 'nodenext']) {
      const options = ['--module', resolution, '--outDir', 'dist', 'main.ts', 'common.cts'];
      const { code, stdout } = await project.compile(...STRICT, '--types', 'node', ...options);
      assert.equal(code, 0, `${resolution}: ${stdout}`);
    }
    const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit', 'main.ts'];
    const { code, stdout } = await project.compile(...STRICT, '--types', 'node', ...bundler);
    assert.equal(code, 0, stdout);
  });

  it('refuses what the interface does not have: paths, parameters, fields of bodies and answers', async () => {
    const wrong = [
      `client.GET('/api/v1/nowhere/');`,
      `client.GET('/api/v1/workflows/{id}/', { params: { path: { id: 'one' } } });`,
      `client.POST('/api/v1/projects/', { body: { title: 'x' } });`,
      `unwrap(client.GET('/api/v1/projects/{id}/', { params: { path: { id: 1 } } })).then((project) => project.title);`,
    ];
    const head = `${IMPORT}\nconst client = createClient({ baseUrl: '' });\n`;
    project.write('wrong.ts', head + wrong.map((line) => `// @ts-expect-error\n${line}`).join('\n'));
    const { code, stdout } = await project.compile(...STRICT, '--module', 'node16', '--noEmit', 'wrong.ts');
    assert.equal(code, 0, stdout);
  });

  it('runs a workflow to its end on a real stack, and tells refused and failed calls apart', async () => {
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const projectId = await api.createProject();
    const start = trigger();
    const greet = llm('Greet {{ input.name }}');
    link(start, greet);
    const workflowId = await api.createWorkflow(projectId, drawing([start, greet]));
    const broken = chain(2, () => llm(''));
    const brokenId = await api.createWorkflow(projectId, broken);
    const brokenNode = broken.nodes[1]!.id;
    for (const file of ['dist/main.js', 'dist/common.cjs']) {
      const env = personsEnvironment({ API_URL: stack.apiUrl, API_KEY: stack.apiKey });
      const args = [file, String(workflowId), greet.id, String(brokenId)];
      const output = await mustRun(process.execPath, args, { cwd: project.folder, env });
      assert.deepEqual(JSON.parse(output), {
        status: 'succeed',
        content: 'echo: Greet Ada',
        cost: '0.00002',
        refused: { [brokenNode]: [{ 'messages.0.message': 'String should have at least 1 character' }] },
        missing: 'not_found',
      });
    }
  });
});
