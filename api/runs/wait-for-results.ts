import type { Reader } from '../../db/watches/run-watches-repository.js';
import type { RunDeps } from './deps.js';
import { parseWait } from '../http/conditional.js';
import type { RouteResult } from '../http/route.js';
import { waitForEnd } from '../live/wait-for-run.js';
import { answerPoll } from './answer-poll.js';
import type { Envelope } from '../envelope/run-envelope.js';

interface Waiting {
  reader: Reader;
  prefer: string | undefined;
  signal: AbortSignal;
}

/**
 * Applies `Prefer: wait` to the start of a run, whose answer without a wait is `started`. Returns an answer with the
 * results if the run ends in time and the reader may still see the run, else `started`. `envelope` is the body of
 * `started` if the run was accepted.
 */
export function waitForResults(
  deps: RunDeps,
  started: RouteResult,
  envelope: Envelope,
  { reader, prefer, signal }: Waiting,
): RouteResult {
  const waitSeconds = parseWait(prefer);
  const runId = envelope.data.id;
  if (waitSeconds === undefined || envelope.status !== 201 || runId === null) return started;
  if (deps.runHub.isFullFor(reader.userId)) return started;
  const headers = { ...started.headers, 'Preference-Applied': `wait=${waitSeconds}` };
  return { status: started.status, later: () => waitAndAnswer(runId, waitSeconds) };

  async function waitAndAnswer(id: string, seconds: number): Promise<RouteResult> {
    const options = { waitMs: seconds * 1000, signal };
    const place = { runId: id, userId: reader.userId };
    const hasEnded = await waitForEnd(deps.runHub, place, options);
    const run = hasEnded && !signal.aborted ? await deps.sharedReads.read({ ...reader, runId: id }) : undefined;
    if (run === undefined || run.isExpired || !run.isVisible) return { ...started, headers };
    const { body } = await answerPoll(deps, run, id);
    return { status: started.status, headers, body: { ...envelope, data: (body as { data: unknown }).data } };
  }
}
