// Makes calls with the connection that a node names: opens the connection's credential, renews it once if it is
// refused, and masks it in errors; each call masks the credential in its own answer (docs/use/connections.md).
import { LRUCache } from 'lru-cache';
import { ConnectionOriginError, type Credential } from '../../connections/credential.js';
import { ConnectionError, type Connections, type OpenedConnection } from '../../connections/open-connection.js';
import { TokenError } from '../../connections/tokens.js';
import type { Database } from '../../db/core/client.js';
import { noteUse } from '../../db/connections/tokens-repository.js';
import { createMasker, joinMaskers, type Masker } from '../../graph/mask.js';
import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';
import { ConnectionNeeded } from '../node/wait-for-connection.js';

/** The credential of a call, and the maskers for its answer. */
export interface CallWith {
  credential: Credential | undefined;
  /** Masks the credential alone. Applied to the output, in which later nodes may need the secrets of the run. */
  hide: Masker;
  /** Masks the credential and the secrets of the run. Applied to what messages of errors quote. */
  masker: Masker;
}

export interface ConnectionUse {
  /**
   * Makes the call with the connection of the node, or without one if `id` is absent. If the call was refused
   * (`isRefused`) and the credential can be renewed, repeats the call once. Throws the errors of `call`,
   * `ConnectionNeeded`, a `NodeFailure`, or an error of PostgreSQL.
   */
  call<T>(
    task: NodeTask,
    id: number | null | undefined,
    call: (using: CallWith) => Promise<T>,
    isRefused: (outcome: { value: T } | { error: unknown }) => boolean,
  ): Promise<T>;
}

const NOTHING = createMasker([]);
/** The limit on pairs of run and connection for which this process remembers that their use is stored. */
const STORED_USES = { max: 20_000 };

export function createConnectionUse(db: Database, connections: Connections): ConnectionUse {
  const stored = new LRUCache<string, true>(STORED_USES);

  async function note({ runId, run: { projectId } }: NodeTask, connection: OpenedConnection): Promise<void> {
    const key = `${runId}/${connection.id}`;
    if (stored.has(key)) return;
    await noteUse(db, { runId, projectId, connection });
    stored.set(key, true);
  }

  return {
    async call(task, id, call, isRefused) {
      if (id === undefined || id === null)
        return call({ credential: undefined, hide: NOTHING, masker: task.run.masker });
      const { signal, run } = task;
      let used = await opened(() => connections.open(run.projectId, id, signal));
      await note(task, used);
      const attempt = async () => {
        const { credential } = used;
        const hide = createMasker(credential.secretTexts);
        const outcome = await settled(() => call({ credential, hide, masker: joinMaskers(hide, run.masker) }));
        return { outcome, hide, wasRefused: isRefused(outcome) };
      };
      let made = await attempt();
      const renewed = made.wasRefused ? await opened(() => connections.renew(used, signal)) : undefined;
      if (renewed !== undefined) {
        used = renewed;
        made = await attempt();
      }
      const { outcome, hide, wasRefused } = made;
      // A call without an answer does not prove the credential valid or invalid.
      const noted = wasRefused || 'value' in outcome ? connections.note(used, wasRefused) : undefined;
      // The answer to an accepted credential is kept even if PostgreSQL is away. The next call notes the acceptance.
      await noted?.catch((error: unknown) => {
        if (wasRefused) throw error;
      });
      if ('value' in outcome) return outcome.value;
      throw toFailure(hidden(outcome.error, hide));
    },
  };
}

async function settled<T>(call: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
}

async function opened<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw toFailure(error);
  }
}

/**
 * Masks the error, because a server can repeat the credential in its answer, or redirect
 * to an address that contains it.
 */
function hidden(error: unknown, hide: Masker): unknown {
  if (error instanceof Error) error.message = hide.text(error.message);
  return error;
}

function toFailure(error: unknown): unknown {
  if (error instanceof ConnectionOriginError) return new NodeFailure(error.code, error.message);
  if (error instanceof TokenError) {
    const { message, retryAfterMs } = error;
    return new NodeFailure('network_error', message, { isRetryable: true, retryAfterMs });
  }
  if (!(error instanceof ConnectionError)) return error;
  if (error.code === 'needs_authorization') return new ConnectionNeeded(error.connectionId);
  return new NodeFailure(error.code, error.message);
}
