import assert from 'node:assert/strict';
import type { DemoApi } from '../../cli/demo/demo-api.js';
import { GIVE_UP_AFTER_MS, runSample } from '../../cli/demo/run-sample.js';
import type { Terminal } from '../../cli/demo/terminal.js';
import type { Sample } from '../../cli/samples/samples.js';

const same = (text: string): string => text;
const terminal: Terminal = {
  line: () => undefined,
  live: () => undefined,
  keepLines: () => undefined,
  bold: same,
  dim: same,
  green: same,
  red: same,
  yellow: same,
  columns: 80,
  isLive: false,
};

describe('a sample of the demo', () => {
  it('is given up when its run has not ended within two minutes', async () => {
    assert.equal(GIVE_UP_AFTER_MS, 120_000);
    let polls = 0;
    const api = {
      createWorkflow: () => Promise.resolve(7),
      startRun: () => Promise.resolve({ id: 'run-1' }),
      poll: () => {
        polls += 1;
        return Promise.resolve({ id: 'run-1', status: 'in progress', data: {} });
      },
    } as unknown as DemoApi;
    const sample = {
      title: 'Endless',
      description: '',
      input: {},
      data: { nodes: [], edges: [] },
    } as unknown as Sample;
    const stage = { api, terminal, uiLink: same, isStandIn: false };
    const run = runSample(stage, 1, sample, [], 250);
    await assert.rejects(run, /^Error: the run run-1 is still in progress after [\d.]+ s$/);
    assert.ok(polls >= 1);
  });
});
