// The claim of an agent's tool call in the ledger. It is committed immediately before the call is sent, so that an
// attempt that fails or dies while it opens the credential or the MCP session leaves no call that looks sent.
import type { Database } from '../../../db/core/client.js';
import {
  claimCall,
  isCallInFlight,
  markCallRefused,
  uncountCall,
  type CallClaim,
  type NewCall,
} from '../../../db/nodes/provider-calls-repository.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeDeps, NodeTask } from '../../node/node-step.js';
import { persist } from '../../node/record.js';
import type { Answer, ToolWork } from './tool-work.js';

export type Outcome<T> = { value: T } | { error: unknown };

type NewToolCall = NewCall & { model: string };

interface ClaimDeps {
  db: Database;
  node: NodeDeps;
}

/** Throws `outcome_unknown` if an earlier attempt left the call in flight and a repetition is not allowed. */
export async function openToolClaim(
  deps: ClaimDeps,
  task: NodeTask,
  { turn, call, mayRepeat }: Pick<ToolWork, 'turn' | 'call'> & Pick<NewCall, 'mayRepeat'>,
): Promise<ToolClaim> {
  const { ordinal, serverLabel: provider, toolName: model } = call;
  const { runId, path, nodeId } = task;
  const toClaim: NewToolCall = { runId, path, nodeId, turn, ordinal: ordinal + 1, provider, model, mayRepeat };
  if (!mayRepeat && (await isCallInFlight(deps.db, toClaim))) throw outcomeUnknown(toClaim);
  return new ToolClaim(deps, task, toClaim);
}

export class ToolClaim {
  readonly #deps: ClaimDeps;
  readonly #task: NodeTask;
  readonly #call: NewToolCall;
  #sent: CallClaim | undefined;

  constructor(deps: ClaimDeps, task: NodeTask, call: NewToolCall) {
    this.#deps = deps;
    this.#task = task;
    this.#call = call;
  }

  /** The attempt in the ledger that has sent the call. Absent if the call was not sent, or not carried out. */
  get attempt(): number | undefined {
    return this.#sent?.attempts;
  }

  /**
   * Claims the call and sends it. Takes the claim back if the call was not carried out (`isUnsent`), so that it may be
   * sent again. Throws `outcome_unknown` if another attempt has sent the call, and the errors of `send`.
   */
  async send<T>(send: () => Promise<T>, isUnsent: (outcome: Outcome<T>) => boolean): Promise<T> {
    const claim = await claimed(this.#deps.db, this.#call);
    this.#sent = claim;
    const outcome = await send().then(
      (value): Outcome<T> => ({ value }),
      (error: unknown): Outcome<T> => ({ error }),
    );
    if (isUnsent(outcome)) {
      await this.#persist((db) => uncountCall(db, { ...this.#call, attempt: claim.attempts }));
      this.#sent = undefined;
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Counts a failed attempt of the call, sent or not. Returns how many have failed, without those of dead workers. */
  async countFailure(): Promise<number> {
    const { attempts, crashes } = this.#sent ?? (await this.#countUnsent());
    return attempts - crashes;
  }

  #countUnsent(): Promise<CallClaim> {
    return this.#deps.db.transaction().execute(async (trx) => {
      const claim = await claimed(trx, this.#call);
      await markCallRefused(trx, { ...this.#call, attempt: claim.attempts });
      return claim;
    });
  }

  /** Allows another attempt to send a call that was sent, because its repetition does no harm. */
  async release(): Promise<void> {
    const { attempt } = this;
    if (attempt !== undefined) await this.#persist((db) => markCallRefused(db, { ...this.#call, attempt }));
  }

  #persist(write: (db: Database) => Promise<void>): Promise<void> {
    const { db, node } = this.#deps;
    return persist(node, this.#task, () => write(db));
  }
}

/** Returns the part of an answer that names the attempt which has sent the call. */
export function sentBy({ attempt }: ToolClaim): { attempt?: number } {
  return attempt === undefined ? {} : { attempt };
}

/**
 * Returns the answer to a call whose last attempt failed. The model can work around an unreachable or broken server.
 */
export function failedAnswer(claim: ToolClaim, { message }: NodeFailure): Answer {
  const fate = claim.attempt === undefined ? 'it was not made' : 'whether it was carried out is unknown';
  return { outcome: 'tool_error', text: `The call failed (${message}); ${fate}.`, ...sentBy(claim) };
}

async function claimed(db: Parameters<typeof claimCall>[0], call: NewToolCall): Promise<CallClaim> {
  const claim = await claimCall(db, call);
  if (!claim.isAllowed) throw outcomeUnknown(call);
  return claim;
}

function outcomeUnknown({ model: toolName }: NewToolCall): NodeFailure {
  return new NodeFailure(
    'outcome_unknown',
    `An earlier attempt sent the call of ${toolName} and did not record its outcome; whether it was carried out is unknown.`,
  );
}
