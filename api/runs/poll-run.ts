// Answers `workflow_result` with the present state of a run. With `Prefer: wait`, the answer waits for the end of the
// run, or with `If-None-Match` for a change since the answer that this names (docs/use/live.md).
import type { Poll, PolledRun } from '../../db/runs/poll-repository.js';
import type { PolledState } from '../../db/runs/polled-run.js';
import type { RunDeps } from './deps.js';
import { isKnown, parseTags, parseWait } from '../http/conditional.js';
import { holdsLazyJson, toJsonText } from '../http/json-text.js';
import type { Caller, RouteResult } from '../http/route.js';
import { waitForChange, waitForEnd } from '../live/wait-for-run.js';
import { readingRole } from '../waits/wait-view.js';
import { answerPoll, tagPoll, type PollAnswer } from './answer-poll.js';

interface PollRequest {
  deps: RunDeps;
  caller: Caller;
  query: { id: string };
  headers: { prefer?: string | undefined; 'if-none-match'?: string | undefined };
  signal: AbortSignal;
}

export async function pollRun({ deps, caller, query, headers, signal }: PollRequest): Promise<RouteResult> {
  const asked = { runId: query.id, userId: caller.userId, projectId: caller.projectId };
  const ifNoneMatch = headers['if-none-match'];
  const { run, answer } = await readAnswer(deps, caller, asked, ifNoneMatch);
  const waitSeconds = parseWait(headers.prefer);
  if (waitSeconds === undefined) return unlessKnown(answer, ifNoneMatch);
  const applied = { 'Preference-Applied': `wait=${waitSeconds}` };
  const knowsTags = parseTags(ifNoneMatch).length > 0;
  const isNews = knowsTags && !isKnown(ifNoneMatch, answer.etag);
  if (run?.status !== 'In Progress' || isNews) return withHeaders(unlessKnown(answer, ifNoneMatch), applied);
  if (deps.runHub.isFullFor(caller.userId)) return unlessKnown(answer, ifNoneMatch);
  // The closure captures these two tags and not `run` and `answer`, so that both can be freed while the caller waits.
  const { stateTag } = run;
  const { etag } = answer;
  return { status: 200, later: () => waitAndAnswer() };

  async function waitAndAnswer(): Promise<RouteResult> {
    const options = { waitMs: waitSeconds! * 1000, signal };
    const viewer = { ...caller, runId: asked.runId };
    const hasChanged = await (knowsTags
      ? waitForChange(deps.runHub, asked, stateTag, options)
      : waitForEnd(deps.runHub, asked, options));
    if (!hasChanged && knowsTags && !signal.aborted && (await deps.sharedReads.roleOf(viewer)) !== null)
      return withHeaders(unlessKnown({ etag, status: 200 }, ifNoneMatch), applied);
    const now = signal.aborted ? undefined : asSeenBy(caller, await deps.sharedReads.read(viewer));
    const then = now === undefined ? answerPoll(deps, now, asked.runId) : answerTogether(deps, now);
    return withHeaders(unlessKnown(await then, ifNoneMatch), applied);
  }
}

/** Reads the nodes of the run only if the caller does not have the current answer. */
async function readAnswer(
  deps: RunDeps,
  caller: Caller,
  asked: Poll,
  ifNoneMatch: string | undefined,
): Promise<{ run: PolledState | undefined; answer: PollAnswer }> {
  if (parseTags(ifNoneMatch).length > 0) {
    const head = await deps.sharedReads.head(asked);
    const etag = await tagPoll(deps, head);
    if (etag !== undefined && isKnown(ifNoneMatch, etag)) return { run: head, answer: { etag, status: 200 } };
  }
  const run = asSeenBy(caller, await deps.sharedReads.poll(asked));
  return { run, answer: await answerPoll(deps, run, asked.runId) };
}

function asSeenBy(caller: Caller, run: PolledRun | undefined): PolledRun | undefined {
  const role = run && readingRole(caller, run.role);
  return run === undefined || role === run.role ? run : { ...run, role: role! };
}

/** The answers that waiting callers share, by the run that was read for them. */
const answers = new WeakMap<PolledRun, Promise<PollAnswer>>();

/**
 * Builds and serializes one answer for all waiting callers to whom `SharedReads.read` has returned the same object. An
 * answer with lazy JSON is not serialized here, because its large parts are read while it is being sent.
 */
function answerTogether(deps: RunDeps, run: PolledRun): Promise<PollAnswer> {
  const known = answers.get(run);
  if (known !== undefined) return known;
  const answer = answerPoll(deps, run, run.runId).then((whole) => {
    if (holdsLazyJson(whole.body)) return whole;
    const headers = { ...whole.headers, 'Content-Type': 'application/json; charset=utf-8' };
    return { ...whole, headers, body: Buffer.from(toJsonText(whole.body)) };
  });
  answers.set(run, answer);
  return answer;
}

/** Returns 304 if the caller has this answer. */
function unlessKnown({ etag, ...whole }: PollAnswer, ifNoneMatch: string | undefined): RouteResult {
  return isKnown(ifNoneMatch, etag) ? { status: 304, headers: { ETag: etag } } : whole;
}

function withHeaders(result: RouteResult, headers: Record<string, string>): RouteResult {
  return { ...result, headers: { ...result.headers, ...headers } };
}
