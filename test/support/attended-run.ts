import { setTimeout as pause } from 'node:timers/promises';
import { createAttendant } from '../../cli/demo/attend.js';
import type { DemoApi, RunState } from '../../cli/demo/demo-api.js';
import type { Sample } from '../../cli/samples/samples.js';

const GIVE_UP_AFTER_MS = 60_000;

/**
 * Waits for the end of a run of the sample. Meanwhile `attend` gives the run what it waits for, and describes this in
 * sentences.
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
