// Sign-ins at providers that were started for connections. Writer: the API. Each is valid once, for ten minutes.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { hashToken } from '../core/random-token.js';

interface SignIn {
  connectionId: number;
  /** The version of the connection whose settings the sign-in uses. */
  version: number;
  userId: number;
  /** Sent to the provider, which sends it back. */
  state: string;
  /** A cookie of the browser that has started the sign-in. */
  cookie: string;
  flowEnc: Buffer;
}

const LIFETIME_SECONDS = 600;

/**
 * Stores the sign-in and deletes expired ones of the connection. Returns false if the connection was deleted meanwhile,
 * or its secrets go to another address now.
 */
export async function insertSignIn(db: Db, signIn: SignIn): Promise<boolean> {
  const { connectionId, version, userId, state, cookie, flowEnc } = signIn;
  const { rows } = await sql`
    WITH over AS (DELETE FROM connection_sign_ins WHERE connection_id = ${connectionId} AND expires_at <= now())
    INSERT INTO connection_sign_ins (state_hash, connection_id, user_id, cookie_hash, flow_enc, expires_at)
    SELECT ${hashToken(state)}, id, ${userId}::integer, ${hashToken(cookie)}, ${flowEnc}::bytea,
      now() + make_interval(secs => ${LIFETIME_SECONDS})
    FROM connections WHERE id = ${connectionId} AND version = ${version} FOR SHARE
    RETURNING true`.execute(db);
  return rows.length > 0;
}

/** The name to which the sealed values of a sign-in (`flowEnc`) are bound. */
export function stateName(state: string): string {
  return hashToken(state).toString('hex');
}

export type RedeemedSignIn = NonNullable<Awaited<ReturnType<typeof redeemSignIn>>>;

/**
 * Deletes and returns a sign-in that this browser has started, with the current state of its connection. Returns
 * undefined if it was used before, has expired or was started in another browser, or if its user may no longer change
 * connections of the project.
 */
export async function redeemSignIn(db: Db, state: string, cookie: string) {
  const { rows } = await sql<{
    id: number;
    projectId: number;
    userId: number;
    version: number;
    kind: 'oauth2' | 'mcp_oauth';
    settings: Record<string, unknown>;
    secretsEnc: Buffer;
    flowEnc: Buffer;
  }>`
    WITH taken AS (
      DELETE FROM connection_sign_ins
      WHERE state_hash = ${hashToken(state)} AND cookie_hash = ${hashToken(cookie)} AND expires_at > now()
      RETURNING *
    )
    SELECT connection.id, connection.project_id AS "projectId", taken.user_id AS "userId", connection.version, connection.kind,
      connection.settings, connection.secrets_enc AS "secretsEnc", taken.flow_enc AS "flowEnc"
    FROM taken JOIN connections AS connection ON connection.id = taken.connection_id
      JOIN projects AS project ON project.id = connection.project_id AND project.deleted_at IS NULL
      JOIN project_members AS member ON member.project_id = project.id AND member.user_id = taken.user_id
        AND member.role IN ('owner', 'admin')
      JOIN users ON users.id = taken.user_id AND users.is_active`.execute(db);
  return rows[0];
}
