// The workflows that the gallery of the console shows in addition to the samples of the demo.
import assert from 'node:assert/strict';
import { createDemoApi, type DemoApi } from '../../cli/demo/demo-api.js';
import { filesOfSample, loadSamples, placeSample, type Sample } from '../../cli/samples/samples.js';
import type { HttpServer } from '../../cli/sandbox/http-server.js';
import { startSandboxTargets } from '../../cli/sandbox/targets.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { attendToEnd } from '../support/attended-run.js';
import { sharedStack } from '../support/shared-stack.js';
import { standIn } from '../support/stand-in.js';

// Of the models of a test stack, this one accepts PDF.
const MODEL = 'model-that-reads-pdf';
const SAMPLES = loadSamples('gallery');

describe('the gallery', function () {
  this.timeout(120_000);
  let api: ApiClient;
  let demo: DemoApi;
  let targets: HttpServer;
  const made = new Map<string, { sample: Sample; workflowId: number }>();

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    demo = createDemoApi(stack.apiUrl, stack.apiKey);
    targets = await startSandboxTargets();
    stack.modelProvider.script(MODEL, standIn);
    const project = await demo.createProject('Gallery');
    const ids = new Map<string, number>();
    for (const loaded of SAMPLES) {
      const sample = placeSample(loaded, { base_url: targets.url, model: MODEL }, ids);
      const workflowId = await demo.createWorkflow(project, sample.title, sample.data);
      if (sample.is_chat === true) await api.patch(`/workflows/${workflowId}/`, { body: { is_chat: true } });
      ids.set(sample.name, workflowId);
      made.set(sample.name, { sample, workflowId });
    }
  });
  after(() => targets.close());

  it('has twenty workflows and more, each with a title of its own, a sentence and tags', () => {
    assert.ok(SAMPLES.length >= 20, `${SAMPLES.length}`);
    const all = [...SAMPLES, ...loadSamples()];
    assert.equal(new Set(all.map(({ title }) => title)).size, all.length);
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
    for (const { name, description, tags } of all) {
      assert.match(description, /\.$/, name);
      assert.ok(tags.length > 0, name);
    }
  });

  for (const { name, title } of SAMPLES) {
    it(`"${title}" gives its expected output, and the check has no errors or warnings`, async () => {
      const { sample, workflowId } = made.get(name)!;
      const { body } = await api.get<{ errors: object[]; warnings: object[] }>(
        `/workflows/${workflowId}/check_workflow/`,
      );
      assert.deepEqual([body.errors, body.warnings], [[], []]);
      const { id: runId } = await demo.startRun(workflowId, sample.input, filesOfSample(sample));
      const { state } = await attendToEnd(demo, sample, runId);
      assert.equal(state.status, 'succeed', JSON.stringify(state.data));
      assert.deepEqual(state.output, sample.output);
    });
  }
});
