// The time that changes of large drawings take for assistants (docs/use/assistants.md).
import assert from 'node:assert/strict';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { cpuSeconds } from '../../../harness/processes/figures.js';
import { createAccount } from '../accounts.js';
import { connectAssistant, type Edited } from './assistant.js';

const NODES = 2_000;
const CHANGES = 200;
const ROUNDS = 25;
/** Detects only hanging, because other work on the machine may delay the calls. */
const LIMIT_MS = 20_000;
/** The limit on the processor time of the API for one call. */
const CPU_MS = 500;

describe('200 changes of a drawing with 2,000 nodes', function () {
  this.timeout(300_000);
  let stack: StartedStack;

  before(async () => {
    // The processor time of its API must be that of these calls alone.
    stack = await startStack();
  });
  after(() => stack.stop());

  it('are made in time and pass the check', async () => {
    const { api, apiKey } = await createAccount(stack);
    const project = await api.createProject();
    const assistant = await connectAssistant(stack.apiUrl, apiKey);
    const add = (number: number) => ({
      add: {
        id: `n${number}`,
        kind: 'set-node',
        data: { value: `{{ ${number === 0 ? 'input.x' : `n${number - 1}.result.content`} }}` },
        after: number === 0 ? 'start' : `n${number - 1}`,
      },
    });
    const made = await assistant.use<Edited>('edit_workflow', {
      project,
      title: 'Large',
      changes: [{ add: { id: 'start', kind: 'trigger-node' } }],
    });
    const { id } = made;
    let { draft } = made;
    let next = 0;
    const step = async (): Promise<void> => {
      const changes = Array.from({ length: CHANGES }, (_, at) => add(next + at));
      const edited = await assistant.use<Edited>('edit_workflow', { id, base: draft, changes });
      assert.equal(edited.check.error_count, 0, JSON.stringify(edited.check));
      draft = edited.draft;
      next += CHANGES;
    };
    for (let drawn = 0; drawn < NODES; drawn += CHANGES) await step();
    const times: number[] = [];
    const costs: number[] = [];
    const pid = stack.stack.pids.api!;
    const measure = async (work: () => Promise<unknown>): Promise<void> => {
      const [begun, before] = [performance.now(), cpuSeconds(pid)];
      await work();
      times.push(performance.now() - begun);
      costs.push((cpuSeconds(pid) - before) * 1_000);
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      await measure(step);
      const changes = Array.from({ length: CHANGES }, (_, at) => ({ remove: `n${next - 1 - at}` }));
      await measure(async () => {
        ({ draft } = await assistant.use<Edited>('edit_workflow', { id, base: draft, changes }));
      });
      next -= CHANGES;
    }
    const [waited, used] = [times, costs].map((all) => Math.round(Math.max(...all))) as [number, number];
    const figures = `the most of ${times.length} calls: ${waited} ms, ${used} ms of the processor`;
    process.stdout.write(`      ${figures}\n`);
    assert.ok(waited <= LIMIT_MS && used <= CPU_MS, figures);
    await assistant.close();
  });
});
