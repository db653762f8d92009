// Many waits that are due at the same moment.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, link, node, trigger, type Drawing } from '../../harness/drawing/drawing.js';
import { cpuSeconds } from '../../harness/processes/figures.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';

const WAITS = 500;
const WITHIN_MS = 2_000;
const LONGEST_WAIT_MS = 30 * 24 * 3600 * 1000;
const SLOWLY = { timeoutMs: 90_000, intervalMs: 250 };

/** Processor time of the stack's processes and their children, in milliseconds; 0 without /proc. */
function cpuOf(stack: StartedStack): number {
  return Object.values(stack.stack.pids).reduce((sum, pid) => sum + cpuSeconds(pid, 'family') * 1000, 0);
}

describe('500 waits that are due in the same second', function () {
  this.timeout(180_000);
  let stack: StartedStack;

  before(async () => (stack = await startStack()));
  after(() => stack.stop());

  function sideBySide(count: number): Drawing {
    const start = trigger();
    const pauses = Array.from({ length: count }, () => node('wait', { mode: 'until', until: '{{ input.moment }}' }));
    link(start, pauses);
    return drawing([start, ...pauses]);
  }

  for (const runs of [1, 10]) {
    it(`wake soon, with at most two seconds of all processors, in ${runs} run${runs === 1 ? '' : 's'}`, async () => {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const projectId = await api.createProject();
      const count = async (workflowId: number, status: string): Promise<number> => {
        const text = `SELECT count(*)::integer AS count FROM node_results AS node JOIN runs ON runs.id = node.run_id
          JOIN waits AS wait ON wait.run_id = runs.id AND wait.node_id = node.node_id
          WHERE runs.workflow_id = $1 AND node.status = $2`;
        return (await queryDatabase<{ count: number }>(stack, text, [workflowId, status]))[0]!.count;
      };
      /** Starts the runs. Resolves when all nodes wait. */
      const start = async (moment: string) => {
        const workflowId = await api.createWorkflow(projectId, sideBySide(WAITS / runs));
        const begun = await Promise.all(Array.from({ length: runs }, () => api.run(workflowId, { moment })));
        await eventually(async () => (await count(workflowId, 'in progress')) === WAITS, SLOWLY);
        return { workflowId, runIds: begun.map(({ data }) => data.id) };
      };
      // Measures how long this machine needs until all nodes wait. The moment is 1.5 times as far ahead, and 5 s more.
      const startedAt = Date.now();
      const measured = await start(new Date(startedAt + LONGEST_WAIT_MS / 2).toISOString());
      const aheadMs = 1.5 * (Date.now() - startedAt) + 5_000;
      await Promise.all(
        measured.runIds.map((id) => api.post(`/workflows/${measured.workflowId}/history/${id}/cancel/`)),
      );
      await eventually(async () => (await count(measured.workflowId, 'in progress')) === 0, SLOWLY);
      const due = new Date(Date.now() + aheadMs).toISOString();
      const { workflowId } = await start(due);
      await new Promise((resolve) => setTimeout(resolve, Date.parse(due) - Date.now()));
      const cpuBefore = cpuOf(stack);
      await eventually(async () => (await count(workflowId, 'succeed')) === WAITS, SLOWLY);
      const cpuMs = cpuOf(stack) - cpuBefore;
      const [late] = await queryDatabase<{ ms: number }>(
        stack,
        `SELECT (extract(epoch FROM max(finished_at) - $2::timestamptz) * 1000)::integer AS ms
         FROM node_results AS node JOIN runs ON runs.id = node.run_id WHERE runs.workflow_id = $1`,
        [workflowId, due],
      );
      const figures = `${late!.ms} ms, of which ${cpuMs} ms on processors`;
      assert.ok(late!.ms >= 0, figures);
      // A limit for wakes that hang or come in turns. A busy machine may be ten times slower than an idle one.
      assert.ok(late!.ms < 10 * WITHIN_MS, figures);
      if (process.platform !== 'linux') return;
      // How long the wakes would take if they used all processors all the time.
      const aloneMs = cpuMs / availableParallelism();
      assert.ok(cpuMs > 0 && aloneMs < WITHIN_MS, figures);
    });
  }
});
