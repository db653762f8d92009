// Claims a model call before it is sent, and reserves its highest possible cost. A call that
// could exceed a limit is not made.
import type OpenAI from 'openai';
import type { ResolvedModel } from '../../../config/model-providers.js';
import { weighFiles } from '../../../config/file-tokens.js';
import { priceOf, reservedTokens, type Tokens } from '../../../config/model-price.js';
import type { Database } from '../../../db/core/client.js';
import { claimPaidCall, spanOf, type PassedLimitOfCall } from '../../../db/spending/reserve-call.js';
import { isZeroDecimal } from '../../../graph/decimal.js';
import { unmarkNumbers } from '../../../outgoing/exact-numbers.js';
import { NodeFailure, runClosedFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

type Lengths = Parameters<typeof reservedTokens>[1];

interface ModelCall {
  turn: number;
  model: ResolvedModel;
  body: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
  /** The cost limit of an agent, as a decimal in USD. */
  maxCostUsd?: string | null;
}

interface ModelClaim {
  /** The number of this attempt (`CallClaim.attempts`). */
  attempt: number;
  crashes: number;
  reserved: Tokens;
  hasReaders: boolean;
}

/**
 * Throws a `NodeFailure`: `budget_exceeded` if the call could exceed a limit, `outcome_unknown` if it was answered and
 * the answer was lost with the worker. Throws `runClosedFailure` if the run has ended. A call that was in flight when
 * its worker died is made again by the next attempt of its node.
 */
export async function claimModelCall(
  db: Database,
  task: NodeTask,
  { turn, model, body, maxCostUsd = null }: ModelCall,
): Promise<ModelClaim> {
  const { runId, path, nodeId, run } = task;
  const { messages, tokens } = weighFiles(body.messages);
  const characters = unmarkNumbers(JSON.stringify({ ...body, messages })).length;
  const reserved = withInput(reservedTokens(characters, toLengths(body)), tokens);
  const reservedUsd = priceOf(reserved, model);
  const claim = await claimPaidCall(db, {
    runId,
    path,
    nodeId,
    turn,
    provider: model.provider.name,
    projectId: run.projectId,
    reservedUsd,
    reservedTokens: reserved,
    maxCostUsd,
    model: run.masker.text(body.model),
    mayRepeat: true,
  });
  if (claim === undefined) throw runClosedFailure();
  if ('limited' in claim) throw budgetExceeded(claim, reservedUsd);
  if (claim.isAllowed) {
    return { attempt: claim.attempts, crashes: claim.crashes, reserved, hasReaders: claim.hasReaders };
  }
  throw new NodeFailure('outcome_unknown', 'The model call was answered, but the answer was lost with its worker.');
}

function withInput({ input, output }: Tokens, more: number): Tokens {
  return { input: input + more, output };
}

/** Returns the parameters that limit the length of the answer, as plain numbers. */
function toLengths({ max_tokens, max_completion_tokens, n, ...rest }: ModelCall['body']): Lengths {
  const { best_of } = rest as Lengths;
  return JSON.parse(unmarkNumbers(JSON.stringify({ max_tokens, max_completion_tokens, n, best_of }))) as Lengths;
}

const SUBJECTS = {
  project: { who: 'The project', limit: 'spending_limit' },
  run: { who: 'The run', limit: 'max_run_cost' },
  test: { who: 'The test', limit: 'max_cost' },
  agent: { who: 'The agent', limit: 'max_cost' },
  cases: { who: 'The run of cases', limit: 'max_cost' },
} as const;

function budgetExceeded(passed: PassedLimitOfCall, price: string): NodeFailure {
  const { limited, limitUsd, period, spentUsd, reservedUsd } = passed;
  const { who, limit } = SUBJECTS[limited];
  const span = spanOf(period);
  const others = isZeroDecimal(reservedUsd) ? '' : ` (and ${reservedUsd} USD are reserved for other calls)`;
  return new NodeFailure(
    'budget_exceeded',
    `The next model call could cost ${price} USD. ${who} has spent ${spentUsd} USD${others} of its ${limit} of ${limitUsd} USD${span}, so the call was not made.`,
  );
}
