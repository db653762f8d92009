// Opens a connection for a caller that sends something with it, and refreshes its tokens. If several callers need new
// tokens at the same time, exactly one asks the provider (docs/adr/0026-connections.md).
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../db/core/client.js';
import type { SecretBox } from '../db/core/secret-box.js';
import {
  findSealedConnection,
  loseGrant,
  markFailing,
  markWorking,
  releaseLease,
  storeRefreshedTokens,
  acquireLease,
  type SealedConnection,
} from '../db/connections/tokens-repository.js';
import type { OutgoingClient } from '../outgoing/outgoing-client.js';
import { untilAborted } from '../outgoing/until-aborted.js';
import { toCredential, type Credential } from './credential.js';
import { hasTokens, type SecretsOf, type SettingsOf } from './kinds.js';
import { refreshMcp } from './mcp-oauth.js';
import { refreshOauth, requestClientToken } from './oauth.js';
import { createProviderFetch } from './provider-fetch.js';
import { ageOf, mayPass, TokenError, type McpGrant, type StoredTokens } from './tokens.js';

export interface OpenedConnection {
  id: number;
  projectId: number;
  name: string;
  credential: Credential;
  tokensVersion: number;
  /** True if its tokens were obtained during this call, by this process or another one. */
  isNew: boolean;
  isFailing: boolean;
}

export interface Connections {
  /**
   * Throws `ConnectionError`, `TokenError` if the provider issues no tokens now, or the reason of
   * `signal`, which ends the wait for tokens. A token request in flight is not aborted, because its answer
   * may hold the only copy of new tokens.
   */
  open(projectId: number, id: number, signal: AbortSignal): Promise<OpenedConnection>;
  /**
   * Opens the connection again after the other side has refused it with a 401. Returns undefined if the refused tokens
   * were new (`isNew`), or if no newer ones are available. Throws like `open`.
   */
  renew(refused: OpenedConnection, signal: AbortSignal): Promise<OpenedConnection | undefined>;
  /** Stores whether the other side accepted or refused the credential. */
  note(used: OpenedConnection, isRefused: boolean): Promise<void>;
}

export class ConnectionError extends Error {
  override name = 'ConnectionError';
  /** `needs_authorization`: somebody has to sign in. */
  readonly code: 'connection_missing' | 'connection_failing' | 'needs_authorization';
  readonly connectionId: number;

  constructor(code: ConnectionError['code'], connectionId: number, message: string) {
    super(message);
    this.code = code;
    this.connectionId = connectionId;
  }
}

/** New tokens are kept in memory through an interruption of the database of this length. */
export const STORE_FOR_MS = 20_000;
/**
 * Longer than the 15 s for a provider's answer (`REQUEST_LIMITS`) and `STORE_FOR_MS` together. After a shorter lease,
 * another process would refresh with a token that the provider has already rotated.
 */
export const LEASE_SECONDS = 45;
/** Longer than a lease, so that a caller who waits for another caller's refresh can take over its expired lease. */
export const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 150;
const FIRST_STORE_PAUSE_MS = 100;
const LONGEST_STORE_PAUSE_MS = 2_000;

interface ConnectionsDeps {
  db: Database;
  secretBox: SecretBox;
  outgoing: OutgoingClient;
}

/** A wait for tokens, shared by callers in this process and stopped when none of them waits any more. */
interface Opening {
  opened: Promise<OpenedConnection>;
  callers: number;
  stop: AbortController;
}

export function createConnections({ db, secretBox, outgoing }: ConnectionsDeps): Connections {
  const underWay = new Map<string, Opening>();

  async function load(projectId: number, id: number): Promise<SealedConnection> {
    const row = await findSealedConnection(db, projectId, id);
    if (row !== undefined) return row;
    throw new ConnectionError('connection_missing', id, `The project has no connection ${id}.`);
  }

  const secretsOf = ({ id, projectId, secretsEnc }: SealedConnection) =>
    JSON.parse(secretBox.open(secretsEnc, 'connection-secrets', projectId, id)) as Record<string, unknown>;

  const tokensOf = ({ id, projectId, tokensEnc }: SealedConnection): StoredTokens | undefined =>
    tokensEnc === null
      ? undefined
      : (JSON.parse(secretBox.open(tokensEnc, 'connection-tokens', projectId, id)) as StoredTokens);

  function toOpened(row: SealedConnection, tokens?: StoredTokens, isNew = false): OpenedConnection {
    const { id, projectId, name, kind, origins, settings, tokensVersion, status } = row;
    const accessToken = tokens === undefined ? {} : { accessToken: tokens.accessToken };
    const credential = toCredential({ kind, origins, settings, secrets: secretsOf(row), ...accessToken });
    return { id, projectId, name, credential, tokensVersion, isNew, isFailing: status === 'failing' };
  }

  /** Tokens with a version up to `staleVersion` are not used, whatever their age. */
  async function openWithTokens(
    first: SealedConnection,
    stop: AbortSignal,
    staleVersion = -1,
  ): Promise<OpenedConnection> {
    const { id, projectId } = first;
    const giveUpMs = Date.now() + PATIENCE_MS;
    for (let row = first; ; row = await load(projectId, id)) {
      if (row.status === 'needs_authorization') throw needsAuthorization(row);
      const tokens = tokensOf(row);
      // Newer tokens were obtained while the caller waited, so they are used even if their lifetime is very short.
      if (tokens !== undefined && row.tokensVersion > first.tokensVersion) return toOpened(row, tokens, true);
      const isStale = row.tokensVersion <= staleVersion;
      const age = tokens === undefined || isStale ? 'over' : ageOf(tokens, Date.now());
      const mayRefresh = row.kind === 'oauth2_client_credentials' || tokens?.refreshToken !== undefined;
      if (tokens !== undefined && (age === 'fresh' || (age === 'ageing' && (row.isLeased || !mayRefresh)))) {
        return toOpened(row, tokens);
      }
      const lease = { id, lease: randomUUID() };
      if (await acquireLease(db, { ...lease, tokensVersion: row.tokensVersion, seconds: LEASE_SECONDS })) {
        const opened = await refresh(row, lease, tokens, age === 'ageing' ? tokens : undefined);
        if (opened !== undefined) return opened;
      }
      if (Date.now() > giveUpMs) throw new TokenError('unreachable', 'The tokens of the connection are not there yet.');
      await pause(LOOK_AGAIN_MS, undefined, { signal: stop });
    }
  }

  /**
   * Asks the provider for tokens and stores them. The call that needs them uses them even if their lifetime
   * is very short. `served` are valid tokens that are used if the provider issues none now. Returns undefined
   * if the row must be read again.
   *
   * If the process dies before it asks the provider, nothing has changed. If it dies after that, the old tokens stay: a
   * provider that has rotated them refuses the next refresh, and somebody must sign in again.
   */
  async function refresh(
    row: SealedConnection,
    lease: { id: number; lease: string },
    tokens: StoredTokens | undefined,
    served: StoredTokens | undefined,
  ): Promise<OpenedConnection | undefined> {
    try {
      const fresh = await ask(row, tokens);
      if (!(await storeTokens(row, fresh))) return undefined;
      return toOpened({ ...row, status: 'ready', tokensVersion: row.tokensVersion + 1 }, fresh, true);
    } catch (error) {
      if (!(error instanceof TokenError) || mayPass(error)) {
        await releaseLease(db, lease);
        if (served !== undefined && error instanceof TokenError) return toOpened(row, served);
        throw error;
      }
      if (error.outcome === 'gone' && row.kind !== 'oauth2_client_credentials') {
        // The next read of the row finds the lost grant, or the tokens that another process has
        // obtained after the lease was lost.
        await loseGrant(db, lease, error.message);
        return undefined;
      }
      await markFailing(db, row.id, row.tokensVersion, error.message);
      await releaseLease(db, lease);
      throw new ConnectionError('connection_failing', row.id, error.message);
    }
  }

  /** Returns false if the connection has newer tokens, was deleted, or its addresses were changed. */
  async function storeTokens(row: SealedConnection, fresh: StoredTokens): Promise<boolean> {
    const tokensEnc = secretBox.seal(JSON.stringify(fresh), 'connection-tokens', row.projectId, row.id);
    const expiresAt = fresh.expiresAtMs === undefined ? null : new Date(fresh.expiresAtMs);
    const giveUpMs = Date.now() + STORE_FOR_MS;
    for (let pauseMs = FIRST_STORE_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_STORE_PAUSE_MS)) {
      try {
        return await storeRefreshedTokens(db, row, { tokensEnc, expiresAt });
      } catch (error) {
        if (Date.now() > giveUpMs) throw error;
        await pause(pauseMs);
      }
    }
  }

  function ask(row: SealedConnection, tokens: StoredTokens | undefined): Promise<StoredTokens> {
    const network = createProviderFetch(outgoing);
    const { settings } = row;
    const secrets = secretsOf(row);
    if (row.kind === 'oauth2_client_credentials') {
      const provider = {
        settings: settings as SettingsOf<'oauth2_client_credentials'>,
        secrets: secrets as SecretsOf<'oauth2_client_credentials'>,
      };
      return requestClientToken(provider, network);
    }
    if (tokens?.refreshToken === undefined) {
      throw new TokenError('gone', 'The token has expired, and the provider has given none to renew it with.');
    }
    if (tokens.mcp !== undefined) {
      const provider = { settings: settings as SettingsOf<'mcp_oauth'>, secrets: secrets as SecretsOf<'mcp_oauth'> };
      return refreshMcp(provider, network, tokens as StoredTokens & { mcp: McpGrant });
    }
    const provider = { settings: settings as SettingsOf<'oauth2'>, secrets: secrets as SecretsOf<'oauth2'> };
    return refreshOauth(provider, network, tokens);
  }

  function begin(key: string, row: SealedConnection, staleVersion?: number): Opening {
    const stop = new AbortController();
    const opened = openWithTokens(row, stop.signal, staleVersion);
    const opening = { opened, callers: 0, stop };
    underWay.set(key, opening);
    // Prevents an unhandled rejection if `opened` rejects after all callers have left.
    opened.catch(() => undefined).finally(() => forget(key, opening));
    return opening;
  }

  function forget(key: string, opening: Opening): void {
    if (underWay.get(key) === opening) underWay.delete(key);
  }

  async function share(row: SealedConnection, signal: AbortSignal, staleVersion?: number): Promise<OpenedConnection> {
    signal.throwIfAborted();
    const key = `${row.id}/${staleVersion ?? ''}`;
    const opening = underWay.get(key) ?? begin(key, row, staleVersion);
    opening.callers += 1;
    try {
      return await untilAborted(opening.opened, signal);
    } finally {
      opening.callers -= 1;
      if (opening.callers === 0) {
        forget(key, opening);
        opening.stop.abort();
      }
    }
  }

  return {
    async open(projectId, id, signal) {
      const row = await load(projectId, id);
      return hasTokens(row.kind) ? share(row, signal) : toOpened(row);
    },
    async renew({ projectId, id, tokensVersion, isNew }, signal) {
      const row = await load(projectId, id);
      if (!hasTokens(row.kind) || isNew) return undefined;
      const canRefresh = row.kind === 'oauth2_client_credentials' || tokensOf(row)?.refreshToken !== undefined;
      if (row.tokensVersion === tokensVersion && !canRefresh) return undefined;
      return share(row, signal, tokensVersion);
    },
    async note({ id, tokensVersion, isFailing }, isRefused) {
      if (isRefused) await markFailing(db, id, tokensVersion, 'The server has answered with status 401.');
      else if (isFailing) await markWorking(db, id);
    },
  };
}

function needsAuthorization({ id, name }: SealedConnection): ConnectionError {
  return new ConnectionError('needs_authorization', id, `Somebody has to sign in for the connection "${name}".`);
}
