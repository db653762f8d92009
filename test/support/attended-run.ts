import { setTimeout as pause } from 'node:timers/promises';
import { createAttendant } from '../../cli/demo/attend.js';
import type { DemoApi, RunState } from '../../cli/demo/demo-api.js';
import type { Sample } from '../../cli/samples/samples.js';

const GIVE_UP_AFTER_MS = 60_000;

/**
 * Polls a run of the sample until its end. `attend` gets each polled state, gives the answers that the run waits for,
 * and returns sentences about them.
 */
export async function attendToEnd(
  api: DemoApi,
  sample: Sample,
  runId: string,
  attend = createAttendant(api, sample),
): Promise<{ state: RunState; done: string[] }> {
  const done: string[] = [];
  const deadline = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    const state = await api.poll(runId);
    if (state.status === 'succeed' || state.status === 'failed') return { state, done };
    if (performance.now() > deadline) throw new Error(`the run still waits: ${JSON.stringify(state)}`);
    done.push(...(await attend(state)));
    await pause(100);
  }
}
