// The view of a connection. Its secrets are masked: people enter them, and nobody reads them again.
import { z } from 'zod';
import { CONNECTION_KINDS } from '../../connections/kinds.js';
import type { ConnectionRecord } from '../../db/connections/connections-repository.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { isObject } from '../../graph/json.js';
import { MASK } from '../../graph/mask-text.js';

const fields = z.record(z.string(), z.unknown());

export const connectionSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    kind: z.enum(CONNECTION_KINDS),
    origins: z.array(z.string()).describe('The credential goes to these and to no other'),
    settings: fields.describe('By the kind; no secrets'),
    secrets: fields.describe('By the kind, each ********'),
    status: z.enum(['ready', 'needs_authorization', 'failing']),
    status_reason: z.string().nullable(),
    account: z.string().nullable().describe('Who has signed in, where the provider tells it'),
    expires_at: z.iso.datetime().nullable().describe('When the access token expires; it is renewed before'),
    last_used_at: z.iso.datetime().nullable(),
    used_by: z.int().describe('How many workflows name it'),
  })
  .meta({ id: 'Connection' });

export type ConnectionView = z.infer<typeof connectionSchema>;

export function toConnection(secretBox: SecretBox, connection: ConnectionRecord): ConnectionView {
  const { id, projectId, name, kind, origins, settings, status, statusReason, account } = connection;
  const secrets = openEntered(secretBox, { id, projectId, secretsEnc: connection.secretsEnc });
  return {
    id,
    name,
    kind,
    origins,
    settings,
    secrets: masked(secrets),
    status,
    status_reason: statusReason,
    account,
    expires_at: connection.expiresAt?.toISOString() ?? null,
    last_used_at: connection.lastUsedAt?.toISOString() ?? null,
    used_by: connection.usedBy,
  };
}

export function openEntered(
  secretBox: SecretBox,
  { id, projectId, secretsEnc }: { id: number; projectId: number; secretsEnc: Buffer },
): Record<string, unknown> {
  return JSON.parse(secretBox.open(secretsEnc, 'connection-secrets', projectId, id)) as Record<string, unknown>;
}

function masked(secrets: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, Array.isArray(value) ? value.map(() => MASK) : MASK]),
  );
}

/**
 * The secret of a header or query connection is `value` or `values`. Returns the one that `name` is not; undefined for
 * the names of other secrets.
 */
export function otherForm(name: string): string | undefined {
  if (name === 'value') return 'values';
  return name === 'values' ? 'value' : undefined;
}

/**
 * Replaces secrets that are masked or left out by the stored ones, and masked items of a list by the stored items at
 * their places; null removes a secret. A new secret also replaces a stored one of the other form. If both forms are
 * sent, both stay, and the schema of the kind refuses them.
 */
export function withStored(sent: unknown, stored: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(sent)) return stored;
  const merged = new Map(Object.entries(stored));
  for (const [name, value] of Object.entries(sent)) {
    const before = stored[name];
    if (value === MASK) continue;
    if (value === null) {
      merged.delete(name);
      continue;
    }
    const other = otherForm(name);
    if (other !== undefined && !Object.hasOwn(sent, other)) merged.delete(other);
    const isList = Array.isArray(value);
    merged.set(name, isList ? value.map((item: unknown, at) => (item === MASK ? itemOf(before, at) : item)) : value);
  }
  return Object.fromEntries(merged);
}

function itemOf(list: unknown, at: number): unknown {
  return Array.isArray(list) ? (list[at] as unknown) : undefined;
}
