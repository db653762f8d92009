// Accounts the calls of the chat proxy (docs/use/spending.md, "The chat-completion proxy"). A call is stored with its
// maximum cost before it is sent, and gets its transaction when it ends, however it ends. If this process dies first,
// another one ends its calls.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.js';
import type { ResolvedModel } from '../../config/model-providers.js';
import { priceOf, reportsUsage, reservedTokens, tokensIn, usedTokens, type Tokens } from '../../config/model-price.js';
import type { Database } from '../../db/core/client.js';
import { outageOf } from '../../db/core/outage.js';
import {
  startChatCall,
  endChatCall,
  endDeadChatCalls,
  extendChatCalls,
  type ChatCall,
  type ChatEnd,
} from '../../db/spending/chat-calls-repository.js';
import { spanOf, type PassedLimit } from '../../db/spending/reserve-call.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';
import { ApiError } from '../http/errors.js';
import type { ReadUsage } from './usage-reader.js';
import { cutText } from '../../graph/cut-text.js';

/** A call that was not renewed for this time is ended by the process that finds it first. */
const LEASE_SECONDS = 120;
const ROUND_MS = 30_000;
/**
 * An answer waits at most this long until its transaction is stored. If storing takes longer, the answer is sent, and
 * storing continues in the background.
 */
const HOLD_MS = 2_000;
const RETRY_MS = [100, 500, 2_000, 5_000, 10_000, 20_000];
/** The delay of further retries. They are made while the database is unavailable or full, until the process stops. */
const RETRY_WHILE_AWAY_MS = 20_000;
const MAX_MODEL_CHARACTERS = 200;

interface AskedCall {
  projectId: number | undefined;
  userId: number;
  modelName: string;
  model: ResolvedModel;
  characters: number;
  body: Parameters<typeof reservedTokens>[1];
}

/**
 * - `failed`: the call was not made, or the provider has refused it.
 * - `cut`: the call was sent, and no complete answer came.
 * - `broken`: the stream broke, or the caller hung up during it.
 */
type ChatOutcome =
  | { kind: 'failed'; reason: string }
  | { kind: 'cut' }
  | { kind: 'complete'; read: ReadUsage }
  | { kind: 'broken'; read: ReadUsage };

export interface MeteredCall {
  /**
   * Ends the chat call; only its first `end` has an effect. Resolves when the end is stored or storing is given up, or
   * after two seconds. Never throws.
   */
  end(outcome: ChatOutcome): Promise<void>;
}

export interface ChatMeter {
  /** Throws 402 if the call could exceed the limit of its project. */
  begin(call: AskedCall): Promise<MeteredCall>;
  /** Renews the calls of this process, and ends those of dead processes. */
  start(): BackgroundLoop;
  /** Resolves when the ends of all calls that have ended by now are stored, or storing them is given up. */
  idle(): Promise<void>;
}

export function createChatMeter(db: Database, logger: Logger): ChatMeter {
  const processId = randomUUID();
  const open = new Set<string>();
  const storing = new Set<Promise<void>>();
  let isStopping = false;
  /**
   * Calls of other processes are not ended before this time of `performance.now()`. A process that starts after an
   * outage of the database leaves the others time to renew theirs.
   */
  let endsDeadAtMs = performance.now() + 1.5 * ROUND_MS;

  async function store(call: ChatCall, end: ChatEnd): Promise<void> {
    for (let tried = 0; ; tried++) {
      try {
        await endChatCall(db, call, end);
        break;
      } catch (error) {
        const isAway = outageOf(error) !== undefined && !isStopping;
        const delayMs = RETRY_MS[tried] ?? (isAway ? RETRY_WHILE_AWAY_MS : undefined);
        if (delayMs === undefined) {
          // The lease of the call expires, and a later round charges the reserved amount.
          logger.error({ err: error, call: call.id }, 'a chat call could not be recorded');
          break;
        }
        await sleep(delayMs, undefined, { ref: false });
      }
    }
    open.delete(call.id);
  }

  function keep(stored: Promise<void>): Promise<void> {
    storing.add(stored);
    void stored.finally(() => storing.delete(stored));
    return stored;
  }

  async function round(): Promise<number> {
    try {
      if (open.size > 0) await extendChatCalls(db, [...open], LEASE_SECONDS);
      if (performance.now() < endsDeadAtMs) return ROUND_MS;
      const ended = await endDeadChatCalls(db);
      if (ended > 0) logger.warn({ calls: ended }, 'chat calls of dead processes were ended');
    } catch (error) {
      // No process could renew its calls, so every lease may have expired.
      if (outageOf(error) !== undefined) endsDeadAtMs = performance.now() + LEASE_SECONDS * 1000;
      logger.warn({ err: error }, 'the leases of chat calls could not be renewed or ended; the next round tries again');
    }
    return ROUND_MS;
  }

  return {
    async begin({ projectId = null, userId, modelName, model, characters, body }) {
      const asked = reservedTokens(characters, body);
      const call: ChatCall = {
        id: randomUUID(),
        projectId,
        userId,
        processId,
        provider: model.provider.name,
        model: cutText(modelName, MAX_MODEL_CHARACTERS).replaceAll('\0', '�'),
        priceVersion: model.priceVersion,
      };
      const reservedUsd = priceOf(asked, model);
      const reserved = { reservedUsd, ...toCounts(asked), leaseSeconds: LEASE_SECONDS };
      // After an error it is unknown whether the call was stored, so its end is stored in any case.
      const passed = await startChatCall(db, { ...call, ...reserved }).catch((error: unknown) => {
        void keep(store(call, toEnd({ kind: 'failed', reason: 'not_made' }, model, asked)));
        throw error;
      });
      if (passed !== undefined) throw budgetExceeded(passed, reservedUsd);
      open.add(call.id);
      let stored: Promise<void> | undefined;
      return {
        end(outcome) {
          stored ??= keep(store(call, toEnd(outcome, model, asked)));
          return Promise.race([stored, sleep(HOLD_MS, undefined, { ref: false })]);
        },
      };
    },
    start() {
      const loop = startLoop(round);
      return {
        ...loop,
        stop() {
          isStopping = true;
          return loop.stop();
        },
      };
    },
    async idle() {
      await Promise.all(storing);
    },
  };
}

const CUT_OFF = 'The call was cut off before its answer came: what was reserved is charged, as estimated.';
const NOT_COMPLETE = 'The answer was not complete: what was used is estimated at one token for every 3 characters.';
const NO_ANSWER =
  'The provider answered with a failure, or with no chat completion, and reported no usage: it costs nothing.';
const NOTHING = { amountUsd: '0', isEstimated: false, inputTokens: 0, outputTokens: 0 };
const NOT_READ = 'The answer has an encoding that could not be read: what was reserved is charged.';

function toEnd(outcome: ChatOutcome, model: ResolvedModel, reserved: Tokens): ChatEnd {
  if (outcome.kind === 'failed') {
    return { status: 'Error', reason: outcome.reason, ...NOTHING };
  }
  if (outcome.kind === 'cut') {
    const amountUsd = priceOf(reserved, model);
    return { status: 'Error', reason: CUT_OFF, isEstimated: true, amountUsd, ...toCounts(reserved) };
  }
  const { usage, characters, decoded, brought } = outcome.read;
  const isComplete = outcome.kind === 'complete';
  const isRead = decoded === 'whole' || (decoded === 'cut' && !isComplete);
  const isNone = isRead && (brought === 'failure' || (brought === 'nothing' && isComplete));
  if (isNone && !reportsUsage(usage)) return { status: 'Error', reason: NO_ANSWER, ...NOTHING };
  const status = isComplete && !isNone ? 'Succeeded' : 'Error';
  const estimated = isRead ? { input: reserved.input, output: tokensIn(characters) } : reserved;
  const used = usedTokens(usage, estimated);
  const reason = used.isEstimated && !isRead ? NOT_READ : used.isEstimated && !isComplete ? NOT_COMPLETE : used.reason;
  const { tokens, isEstimated } = used;
  return { status, reason, isEstimated, amountUsd: priceOf(tokens, model), ...toCounts(tokens) };
}

function toCounts({ input, output }: Tokens): Pick<ChatEnd, 'inputTokens' | 'outputTokens'> {
  return { inputTokens: input, outputTokens: output };
}

/** The 402 of a call that could cost `price` USD and would exceed the limit of its project. */
function budgetExceeded({ limitUsd, period, spentUsd, reservedUsd }: PassedLimit, price: string): ApiError {
  const span = spanOf(period);
  const message =
    `The call could cost ${price} USD. The project has spent ${spentUsd} USD and reserved ${reservedUsd} USD for other calls ` +
    `of its limit of ${limitUsd} USD${span}, so the call was not made.`;
  return new ApiError(402, 'budget_exceeded', message);
}
