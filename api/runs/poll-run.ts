// `workflow_result`: what is known of a run now, or as soon as there is something new. docs/use/live.md.
import { readRunForPoll, type Poll, type PolledRun, type PolledText } from '../../db/runs/poll-repository.js';
import type { AppDeps } from '../deps.js';
import { isKnown, parseTags, parseWait } from '../http/conditional.js';
import { holdsLazyJson, toJsonText } from '../http/json-text.js';
import type { Caller, Polled, RouteResult } from '../http/route.js';
import { waitForRun } from '../live/wait-for-run.js';
import { answerPoll, type PollAnswer } from './answer-poll.js';

interface PollRequest {
  deps: AppDeps;
  caller: Caller;
  polled: Polled | undefined;
  query: { id: string };
  headers: { prefer?: string | undefined; 'if-none-match'?: string | undefined };
  signal: AbortSignal;
}

export async function pollRun({ deps, caller, polled, query, headers, signal }: PollRequest): Promise<RouteResult> {
  const asked = { runId: query.id, userId: caller.userId, projectId: caller.projectId };
  const ifNoneMatch = headers['if-none-match'];
  const reply = (answer: PollAnswer): Promise<RouteResult> => settle(answer, ifNoneMatch, polled);
  const { run, answer } = await readAnswer(deps, asked, polled, ifNoneMatch).catch(async (error: unknown) => {
    await polled?.settle(true);
    throw error;
  });
  const waitSeconds = parseWait(headers.prefer);
  if (waitSeconds === undefined) return reply(answer);
  const applied = { 'Preference-Applied': `wait=${waitSeconds}` };
  const knowsTags = parseTags(ifNoneMatch).length > 0;
  const isNews = knowsTags && !isKnown(ifNoneMatch, answer.etag);
  if (run?.status !== 'In Progress' || isNews) return withHeaders(await reply(answer), applied);
  if (deps.runHub.isFullFor(caller.userId)) return reply(answer);
  const { stateTag } = run;
  const { etag } = answer;
  // What was read is not kept while the caller waits.
  if (polled?.read !== undefined) polled.read.run = undefined;
  return { status: 200, later: () => waitAndAnswer() };

  async function waitAndAnswer(): Promise<RouteResult> {
    const options = { waitMs: waitSeconds! * 1000, signal };
    const viewer = { ...caller, runId: asked.runId };
    const hasChanged = await waitForRun(
      deps.runHub,
      asked,
      (state) => (knowsTags ? state.stateTag !== stateTag : state.status !== 'In Progress'),
      options,
    );
    if (!hasChanged && knowsTags && !signal.aborted && (await deps.sharedReads.roleOf(viewer)) !== null)
      return withHeaders(await reply({ etag, status: 200 }), applied);
    const now = signal.aborted ? undefined : await deps.sharedReads.read(viewer);
    const then = now === undefined ? answerPoll(deps, now, asked.runId) : answerTogether(deps, now);
    return withHeaders(await reply(await then), applied);
  }
}

/**
 * The run may have been read with the key, except results that are too large for that, and except a run that the caller
 * knows; that one is read after all where something is in flight that the caller does not know.
 */
async function readAnswer(
  deps: AppDeps,
  asked: Poll,
  polled: Polled | undefined,
  ifNoneMatch: string | undefined,
): Promise<{ run: PolledRun | PolledText | undefined; answer: PollAnswer }> {
  const read = polled?.read;
  if (read?.runId === asked.runId && read.run?.nodes !== null) {
    const answer = await answerPoll(deps, read.run, asked.runId);
    if (read.run?.isUnchanged !== true || isKnown(ifNoneMatch, answer.etag)) return { run: read.run, answer };
  }
  const run = await readRunForPoll(deps.db, asked, deps.config.resultRetentionDays);
  return { run, answer: await answerPoll(deps, run, asked.runId) };
}

/** By what has been read for all who have waited for the run. */
const answers = new WeakMap<PolledRun, Promise<PollAnswer>>();

/** A thousand who have waited for a large answer get the same bytes of it, not a thousand copies. */
function answerTogether(deps: AppDeps, run: PolledRun): Promise<PollAnswer> {
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

/** 304 where the caller has this answer; then, and only then, its request does not count. */
async function settle(
  answer: PollAnswer,
  ifNoneMatch: string | undefined,
  polled: Polled | undefined,
): Promise<RouteResult> {
  const isUnchanged = isKnown(ifNoneMatch, answer.etag);
  const limits = await polled?.settle(!isUnchanged);
  const { etag, ...whole } = answer;
  return withHeaders(isUnchanged ? { status: 304, headers: { ETag: etag } } : whole, limits ?? {});
}

function withHeaders(result: RouteResult, headers: Record<string, string>): RouteResult {
  return { ...result, headers: { ...result.headers, ...headers } };
}
