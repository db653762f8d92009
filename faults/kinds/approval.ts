// An agent that waits for a person while everything dies around it.
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import type { NodeEntry } from '../../test/support/api-client.js';
import type { Fault } from '../fault.js';
import { killBlow } from './deaths.js';
import { killParts, PARTS } from '../parts.js';
import { inRow, think } from '../shapes.js';

/** Beyond a worker's heartbeat time-out: what its death has cut is taken up again before the next part dies. */
const AFTER_WORKER_MS = 12_000;

type WaitingEntry = NodeEntry & { approval_requests?: { request_id: string }[] };

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
        const entry: WaitingEntry | undefined = (await api.poll(runId)).data.data?.[agent.id];
        return entry?.approval_requests?.[0]?.request_id;
      },
      { timeoutMs: 30_000 },
    );
    for (const part of PARTS) {
      await stage.hit(killBlow(part), () => killParts(world, [part]));
      if (part === 'worker') await pause(AFTER_WORKER_MS);
    }
    await stage.hit({ what: 'the restart', cuts: 'nothing', apiDown: true, ends: PARTS }, () => world.restart());
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
