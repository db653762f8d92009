import { z } from 'zod';
import type { KeyListing } from '../../db/projects/keys-repository.js';

export const keyScope = z.enum(['full', 'run', 'read']);

export const keySchema = z.object({
  id: z.int(),
  label: z.string(),
  hint: z.string().describe('The last four characters of the key.'),
  project: z.int().nullable().describe('The only project that the key reaches; null: all of its user.'),
  scope: keyScope.describe('`run`: run workflows and answer what runs ask; `read`: GET only; else 403 `key_scope`.'),
  expires_at: z.iso.datetime().nullable().describe('From then on the key is unknown (401); null: never.'),
  rate_limit: z.int().nullable().describe('Requests a minute; null: the default.'),
  created_at: z.iso.datetime(),
});

export const newKeySchema = keySchema.extend({ api_key: z.string().describe('The key itself, shown only here.') });

export function toKey(key: KeyListing): z.infer<typeof keySchema> {
  return {
    id: key.id,
    label: key.label,
    hint: key.hint,
    project: key.projectId,
    scope: key.scope,
    expires_at: key.expiresAt?.toISOString() ?? null,
    rate_limit: key.rateLimit,
    created_at: key.createdAt.toISOString(),
  };
}
