// Answers a chat completion with the output of a workflow's run.
import { Readable } from 'node:stream';
import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import { isDatabaseTimeout } from '../../db/core/client.js';
import { isShortOfResources, outageOf } from '../../db/core/outage.js';
import { hasReachedLimitBelow } from '../../db/runs/tool-runs-repository.js';
import { readRunTokens } from '../../db/runs/run-tokens-repository.js';
import { MemoryBusyError, type ByteLease } from '../../memory/byte-budget.js';
import type { ChatDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { COMMENT, EVENT_STREAM_HEADERS } from '../http/event-stream.js';
import type { RouteResult } from '../http/route.js';
import { cancelRun } from '../runs/cancel-run.js';
import { toRequestText } from '../runs/request-text.js';
import { MAX_ANSWER_CHARACTERS, readRunAnswer, type RunAnswer } from '../runs/run-answer.js';
import { createChunkFrames, toCompletion, toErrorFrame, type AnswerHead, type ChunkFrames } from './completion.js';
import { followAnswer, type FollowedRun, type RunNews } from './follow-answer.js';
import { attemptFailed, createStreamedText } from './streamed-text.js';

export interface AnsweredRun extends AnswerHead, Omit<FollowedRun, 'aliveEveryMs' | 'withDeltas'> {
  workflowId: number;
  doer: Doer;
  log: Logger;
}

export interface AnswerTimes {
  /** The limit on answers without a stream. A run that has not answered by then is cancelled. */
  maxMs: number;
  /**
   * Proxies close streams that are silent for longer. At this interval, `followAnswer` also checks that the caller may
   * still run the workflow, with or without a stream.
   */
  aliveEveryMs: number;
}

const TIMES: AnswerTimes = { maxMs: 600_000, aliveEveryMs: 15_000 };
/** A caller that reads nothing for this time is disconnected. */
const STALLED_MS = 60_000;

export type AnswerDeps = Pick<
  ChatDeps,
  'config' | 'db' | 'memory' | 'runHub' | 'sharedReads' | 'logger' | 'metrics' | 'temporal'
>;

/** Resolves once the run has ended or waits for a person. Throws an `ApiError` if there is no answer. */
export async function answerWhole(deps: AnswerDeps, run: AnsweredRun, times = TIMES): Promise<RouteResult> {
  const untilMs = performance.now() + times.maxMs;
  const aliveEveryMs = Math.min(times.aliveEveryMs, times.maxMs);
  const lease = deps.memory.lease(`user:${run.reader.userId}`, run.signal);
  let isGivenUp = false;
  try {
    for await (const news of followAnswer(deps, { ...run, aliveEveryMs, withDeltas: false })) {
      isGivenUp = news.kind === 'alive' && performance.now() >= untilMs;
      if (isGivenUp) throw tooSlow(run, times);
      if (!isFinal(news)) continue;
      const content = await contentOf(deps, run, news, lease);
      const body = toCompletion(run, content, await readRunTokens(deps.db, run.runId));
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    }
    throw stopping(run);
  } catch (error) {
    throw toFinal(error, run);
  } finally {
    lease.end();
    if (isGivenUp || run.signal.aborted) await giveUp(deps, run);
  }
}

interface StreamOptions {
  /** True if the client has requested a last chunk with the usage. */
  withUsage: boolean;
  /** The nodes whose text is streamed; a run executes at most one of them (graph/answer-node.ts). */
  answering: ReadonlySet<string>;
}

export function answerStream(
  deps: AnswerDeps,
  run: AnsweredRun,
  options: StreamOptions,
  times: AnswerTimes = TIMES,
): RouteResult {
  const outcome: Outcome = { isAnswered: false };
  const frames = framesOf(deps, run, { ...options, ...times, outcome });
  const body = Readable.from(frames, { objectMode: false, highWaterMark: 1 });
  // If the caller hangs up before the first read, the generator never starts and its own clean-up does not run.
  body.once('close', () => {
    if (!outcome.isAnswered) void giveUp(deps, run);
  });
  return { status: 200, headers: EVENT_STREAM_HEADERS, body, stalledMs: STALLED_MS };
}

interface Outcome {
  /** True once the client is receiving the final answer or an error; the run is then not cancelled. */
  isAnswered: boolean;
}

async function* framesOf(
  deps: AnswerDeps,
  run: AnsweredRun,
  { withUsage, answering, aliveEveryMs, outcome }: StreamOptions & AnswerTimes & { outcome: Outcome },
): AsyncGenerator<string> {
  const frames = createChunkFrames(run, withUsage);
  const lease = deps.memory.lease(`user:${run.reader.userId}`, run.signal);
  const streamed = createStreamedText(answering);
  try {
    yield frames.first();
    for await (const news of followAnswer(deps, { ...run, aliveEveryMs, withDeltas: answering.size > 0 })) {
      if (news.kind === 'failed' && news.nodeId === streamed.nodeId) throw attemptFailed();
      if (news.kind === 'alive') yield COMMENT;
      if (news.kind === 'delta') yield* wordsIn(frames, streamed.add(news.delta));
      if (!isFinal(news)) continue;
      outcome.isAnswered = true;
      const content = await contentOf(deps, run, news, lease, streamed.nodeId !== undefined);
      const tokens = await readRunTokens(deps.db, run.runId);
      yield* wordsIn(frames, content);
      yield frames.end(tokens);
      return;
    }
    throw stopping(run);
  } catch (error) {
    if (run.signal.aborted) return;
    outcome.isAnswered = true;
    if (!(error instanceof ApiError)) run.log.error({ err: error }, 'the answer of a run could not be read');
    yield toErrorFrame(toFinal(error, run));
  } finally {
    lease.end();
  }
}

function wordsIn(frames: ChunkFrames, words: string): string[] {
  return words === '' ? [] : [frames.words(words)];
}

type FinalNews = Extract<RunNews, { kind: 'asks' }> | { kind: 'ended' | 'lost' };

function isFinal(news: RunNews): news is FinalNews {
  return news.kind === 'asks' || news.kind === 'ended' || news.kind === 'lost';
}

/**
 * Returns the answer; with `hasWords`, only what follows the text of it that was already streamed. Throws the error of
 * a run without an answer, or of a caller who may not run the workflow any more.
 */
async function contentOf(
  deps: AnswerDeps,
  run: AnsweredRun,
  news: FinalNews,
  lease: ByteLease,
  hasWords = false,
): Promise<string> {
  if (news.kind === 'asks') return `${hasWords ? '\n\n' : ''}${toRequestText(news.requests, deps.config)}`;
  if (news.kind === 'lost') throw new ApiError(404, 'model_not_found', 'You may not run this workflow any more.');
  const answer = await readRunAnswer(deps, run.runId, lease);
  if (hasWords && (answer.kind === 'output' || answer.kind === 'too_large')) return '';
  if (answer.kind === 'output') return answer.text;
  // A sub-workflow that a limit has stopped fails its node with `child_failed`.
  const isLimited =
    answer.kind === 'failed' && answer.code === 'child_failed' && (await hasReachedLimitBelow(deps.db, run.runId));
  throw failureOf(run, isLimited ? { ...answer, code: 'budget_exceeded' } : answer);
}

function failureOf({ runId }: AnsweredRun, answer: Exclude<RunAnswer, { kind: 'output' }>): ApiError {
  if (answer.kind === 'failed') {
    // The proxy answers a call that would exceed a limit with the same status.
    const status = answer.code === 'budget_exceeded' ? 402 : 500;
    return new ApiError(status, answer.code, `The run ${runId} failed: ${answer.message}`);
  }
  if (answer.kind === 'cancelled') return new ApiError(500, 'cancelled', `The run ${runId} was cancelled.`);
  if (answer.kind === 'too_large') {
    const size = `${answer.characters} characters, and an answer has at most ${MAX_ANSWER_CHARACTERS}`;
    return new ApiError(500, 'output_too_large', `The run ${runId} succeeded, but its output has ${size}.`);
  }
  return new ApiError(500, 'error', `The run ${runId} does not exist any more.`);
}

function tooSlow({ runId }: AnsweredRun, { maxMs }: AnswerTimes): ApiError {
  const message = `The run ${runId} had not ended within ${maxMs / 1000} seconds, and was cancelled.`;
  return new ApiError(504, 'timeout', message);
}

function stopping({ runId }: AnsweredRun): ApiError {
  return new ApiError(503, 'overloaded', `The process that waited for the run ${runId} stops. The run goes on.`);
}

/** A retry would start another run, so the header asks clients not to retry. */
function toFinal(error: unknown, run: AnsweredRun): ApiError {
  const final = error instanceof ApiError ? error : unreadable(run, error);
  final.headers['x-should-retry'] = 'false';
  return final;
}

/** The run has started, so its id is named: the caller reads its result later. An unexpected error reveals nothing. */
function unreadable({ runId }: AnsweredRun, cause: unknown): ApiError {
  const rest = `The answer of the run ${runId} could not be read; its result can be read later.`;
  if (outageOf(cause) !== undefined || isShortOfResources(cause)) {
    const message = `The storage of the service is not available at present. ${rest}`;
    return new ApiError(503, 'unavailable', message, { cause });
  }
  if (cause instanceof MemoryBusyError || isDatabaseTimeout(cause)) {
    return new ApiError(503, 'overloaded', `The service is busy. ${rest}`, { cause });
  }
  return new ApiError(500, 'error', 'A server error occurred.', { cause });
}

/** Cancels the run whose caller has hung up or waited long enough. A process that stops leaves its runs alone. */
async function giveUp(deps: AnswerDeps, { workflowId, runId, doer, log }: AnsweredRun): Promise<void> {
  if (deps.runHub.isStopping) return;
  await cancelRun(deps, log, { workflowId, runId, doer }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'run_finished') return;
    log.warn({ err: error, run_id: runId }, 'a run whose caller has gone was not cancelled');
  });
}
