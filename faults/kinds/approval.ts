// An agent that waits for a person's approval while all parts die.
import { eventually } from '../../harness/timing/eventually.js';
import type { Fault } from '../fault.js';
import { killInTurn } from './deaths.js';
import { inRow, think } from '../shapes.js';

const acrossEverything: Fault = {
  name: 'approval',
  title: 'an approval pending while worker, API, Temporal, Postgres die in turn and all restarts',
  async apply(stage) {
    const { world, api } = stage;
    const run = await stage.start(inRow('approval', [think(world.outside, 'agent', 'always')]));
    const agent = run.evidence.expected.at(-1)!;
    const runId = await run.accepted;
    const requestId = await eventually(
      async () => {
        const entry = (await api.poll(runId)).data.data?.[agent.id];
        return entry?.approval_requests?.[0]?.request_id;
      },
      { timeoutMs: 30_000 },
    );
    await killInTurn(stage);
    const tool = agent.calls.find(({ mayRepeat }) => !mayRepeat)!.key;
    const early = world.countCalls()[tool];
    if (early !== undefined) stage.complain('the tool was called before anybody had approved');
    const { body } = await api.post<{ status: number }>(
      `/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`,
    );
    if (body.status !== 200) stage.complain(`the approval was answered with ${JSON.stringify(body)}`);
    await run.ended;
    const made = world.countCalls()[tool] ?? 0;
    if (made !== 1) stage.complain(`the approved tool was called ${made} times`);
  },
};

export const approvals: Fault[] = [acrossEverything];
