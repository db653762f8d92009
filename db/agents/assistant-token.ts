// Tokens with which the worker calls `/mcp/build` for an assistant in the editor. A token contains the id of the
// assistant's run and the time at which the token expires. Tokens are not stored, because every process that has
// SECRETS_KEY can make and open them.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';

const PREFIX = 'wfr_';
const LIFETIME_MS = 15 * 60_000;
const MOST_CHARACTERS = 500;

export function makeAssistantToken(box: SecretBox, runId: string, nowMs = Date.now()): string {
  return PREFIX + box.seal(`${runId} ${nowMs + LIFETIME_MS}`, 'assistant-token').toString('base64url');
}

export function isAssistantToken(token: string): boolean {
  return token.startsWith(PREFIX);
}

export interface AssistantRun {
  runId: string;
  userId: number;
  projectId: number;
  workflowId: number;
}

const isAnswering = sql`purpose = 'assistant' AND status = 'In Progress' AND cancel_requested_at IS NULL`;

/** Returns undefined if the run is not one of an assistant, has ended or is to be cancelled. */
export async function findAssistantRun(db: Db, runId: string): Promise<AssistantRun | undefined> {
  const { rows } = await sql<AssistantRun>`
    SELECT id AS "runId", user_id AS "userId", project_id AS "projectId", workflow_id AS "workflowId" FROM runs
    WHERE id = ${runId} AND ${isAnswering}`.execute(db);
  return rows[0];
}

/**
 * Returns false if the run is no open one of an assistant, or is to be cancelled. Otherwise the run cannot end, and no
 * request to cancel it can be stored, before the transaction ends. So the end of the run sees the rows that the
 * transaction has stored.
 */
export async function holdAssistantRun(transaction: Db, runId: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM runs WHERE id = ${runId} AND ${isAnswering} FOR SHARE`.execute(transaction);
  return rows.length > 0;
}

/** Returns the id of the token's run; undefined for a token that this service has not sealed or that has expired. */
export function openAssistantToken(box: SecretBox, token: string): string | undefined {
  const sealed = token.slice(PREFIX.length);
  if (!isAssistantToken(token) || token.length > MOST_CHARACTERS || !/^[\w-]+$/.test(sealed)) return undefined;
  try {
    const [runId, until] = box.open(Buffer.from(sealed, 'base64url'), 'assistant-token').split(' ');
    return Date.now() < Number(until) ? runId : undefined;
  } catch {
    return undefined;
  }
}
