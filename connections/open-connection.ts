// Opens a connection for whoever sends something with it, and keeps its tokens fresh: of many who need new tokens at the same
// time exactly one asks the provider. Extensions, section 10; ADR 26.
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
  takeLease,
  type SealedConnection,
} from '../db/connections/tokens-repository.js';
import type { OutgoingClient } from '../outgoing/outgoing-client.js';
import { toCredential, type Credential } from './credential.js';
import { hasTokens, type SecretsOf, type SettingsOf } from './kinds.js';
import { refreshMcp } from './mcp-oauth.js';
import { refreshOauth, takeClientToken } from './oauth.js';
import { createProviderFetch } from './provider-fetch.js';
import { ageOf, TokenError, type McpGrant, type StoredTokens } from './tokens.js';

export interface OpenedConnection {
  id: number;
  projectId: number;
  name: string;
  credential: Credential;
  tokensVersion: number;
  /** Its tokens were obtained for this call. */
  isNew: boolean;
  isFailing: boolean;
}

export interface Connections {
  /** Throws `ConnectionError`, or `TokenError` where the provider cannot be reached. */
  open(projectId: number, id: number): Promise<OpenedConnection>;
  /**
   * Opens it again after the other side has refused it with a 401. Undefined where no newer credential can be had. Throws as
   * `open` does.
   */
  renew(refused: OpenedConnection): Promise<OpenedConnection | undefined>;
  /** Notes what the other side has answered. */
  note(used: OpenedConnection, isRefused: boolean): Promise<void>;
}

/** The connection cannot be used now. */
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

/** The lease outlives the time in which a provider has to answer. */
const LEASE_SECONDS = 30;
/** Whoever waits for another's tokens waits until its lease has run out. */
const PATIENCE_MS = 45_000;
const LOOK_AGAIN_MS = 150;

interface ConnectionsDeps {
  db: Database;
  secretBox: SecretBox;
  outgoing: OutgoingClient;
}

export function createConnections({ db, secretBox, outgoing }: ConnectionsDeps): Connections {
  /** Those who need tokens in this process share one look. */
  const underWay = new Map<string, Promise<OpenedConnection>>();

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

  /** `staleVersion`: tokens of this version do not serve, whatever their age. */
  async function openWithTokens(first: SealedConnection, staleVersion = -1): Promise<OpenedConnection> {
    const { id, projectId } = first;
    const giveUpMs = Date.now() + PATIENCE_MS;
    let isNew = false;
    for (let row = first; ; row = await load(projectId, id)) {
      if (row.status === 'needs_authorization') throw needsAuthorization(row);
      const tokens = tokensOf(row);
      const isStale = row.tokensVersion <= staleVersion;
      const age = tokens === undefined || isStale ? 'over' : ageOf(tokens, Date.now());
      const mayRefresh = row.kind === 'oauth2_client_credentials' || tokens?.refreshToken !== undefined;
      if (tokens !== undefined && (age === 'fresh' || (age === 'ageing' && (row.isLeased || !mayRefresh)))) {
        return toOpened(row, tokens, isNew);
      }
      const lease = { id, lease: randomUUID() };
      const isOurs = await takeLease(db, { ...lease, tokensVersion: row.tokensVersion, seconds: LEASE_SECONDS });
      if (isOurs) {
        const served = age === 'ageing' ? tokens : undefined;
        if (!(await refresh(row, lease, tokens, served))) return toOpened(row, served);
        isNew = true;
      } else {
        if (Date.now() > giveUpMs)
          throw new TokenError('unreachable', 'The tokens of the connection are not there yet.');
        await pause(LOOK_AGAIN_MS);
      }
    }
  }

  /**
   * Asks the provider and stores what it gives. Returns false where it cannot be reached and the tokens that there are
   * (`served`) still serve, and true where the connection is to be read again. A process that dies before it asks the
   * provider leaves everything as it was. One that dies after that leaves the old tokens: a provider that has rotated them
   * refuses the next refresh, and somebody signs in again.
   */
  async function refresh(
    row: SealedConnection,
    lease: { id: number; lease: string },
    tokens: StoredTokens | undefined,
    served: StoredTokens | undefined,
  ): Promise<boolean> {
    try {
      const fresh = await ask(row, tokens);
      const tokensEnc = secretBox.seal(JSON.stringify(fresh), 'connection-tokens', row.projectId, row.id);
      const expiresAt = fresh.expiresAtMs === undefined ? null : new Date(fresh.expiresAtMs);
      await storeRefreshedTokens(db, lease, { tokensEnc, expiresAt });
      return true;
    } catch (error) {
      if (!(error instanceof TokenError) || error.outcome === 'unreachable') {
        await releaseLease(db, lease);
        if (served !== undefined && error instanceof TokenError) return false;
        throw error;
      }
      if (error.outcome === 'gone' && row.kind !== 'oauth2_client_credentials') {
        // The next look at the row finds that, or what another process has got after the lease was lost.
        await loseGrant(db, lease, error.message);
        return true;
      }
      await markFailing(db, row.id, row.tokensVersion, error.message);
      throw new ConnectionError('connection_failing', row.id, error.message);
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
      return takeClientToken(provider, network);
    }
    if (tokens?.refreshToken === undefined) {
      throw new TokenError('gone', 'The token has expired, and the provider has given none to renew it with.');
    }
    if (tokens.mcp !== undefined) return refreshMcp(network, tokens as StoredTokens & { mcp: McpGrant });
    const provider = { settings: settings as SettingsOf<'oauth2'>, secrets: secrets as SecretsOf<'oauth2'> };
    return refreshOauth(provider, network, tokens);
  }

  function once(row: SealedConnection, staleVersion?: number): Promise<OpenedConnection> {
    const key = `${row.id}/${staleVersion ?? ''}`;
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const opening = openWithTokens(row, staleVersion).finally(() => underWay.delete(key));
    underWay.set(key, opening);
    return opening;
  }

  return {
    async open(projectId, id) {
      const row = await load(projectId, id);
      return hasTokens(row.kind) ? once(row) : toOpened(row);
    },
    async renew({ projectId, id, tokensVersion, isNew }) {
      const row = await load(projectId, id);
      if (!hasTokens(row.kind) || isNew) return undefined;
      const canRefresh = row.kind === 'oauth2_client_credentials' || tokensOf(row)?.refreshToken !== undefined;
      if (row.tokensVersion === tokensVersion && !canRefresh) return undefined;
      return once(row, tokensVersion);
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
