import { z } from 'zod';
import { mayRun } from '../../acceptance/roles.js';
import type { Role } from '../../db/core/tables.js';
import type { HookRecord } from '../../db/hooks/hooks-repository.js';
import type { HookDeps } from './deps.js';

export const verification = z.enum(['none', 'standard-webhooks', 'hmac-sha256']);

export const hookSchema = z.object({
  id: z.int(),
  url: z.url().optional().describe('Where deliveries are sent to, for its author and owners of the project'),
  verify: verification,
  header: z.string().nullable().describe('Of `hmac-sha256`: the header with the signature'),
  author: z.object({ id: z.int(), name: z.string() }).describe('As whom the runs are started'),
  inactive_reason: z
    .enum(['author_lost_access'])
    .nullable()
    .describe('Why deliveries start no runs; null: they do. The author may not run the workflow any more'),
  last_delivery: z
    .object({ at: z.iso.datetime(), status: z.int().describe('The HTTP status that it was answered with') })
    .nullable()
    .describe('The last one that was not throttled'),
  created_at: z.iso.datetime(),
});

export const projectHookSchema = hookSchema.extend({
  workflow: z.object({ id: z.int(), title: z.string() }),
});

export const shownHookSchema = hookSchema.extend({
  secret: z.string().optional().describe('What the sender signs with, shown only here; absent where nothing is signed'),
});

interface HookReader {
  userId: number;
  role: Role;
}

export function toHook(deps: HookDeps, hook: HookRecord, reader: HookReader): z.infer<typeof hookSchema> {
  const { lastDeliveryAt: at, lastDeliveryStatus: status } = hook;
  const seesAddress = reader.role === 'owner' || reader.userId === hook.authorId;
  return {
    id: hook.id,
    ...(seesAddress && { url: addressOf(deps, hook) }),
    verify: hook.verify,
    header: hook.header,
    author: { id: hook.authorId, name: hook.authorName },
    inactive_reason: mayRun(hook.authorRole) ? null : 'author_lost_access',
    last_delivery: at === null || status === null ? null : { at: at.toISOString(), status },
    created_at: hook.createdAt.toISOString(),
  };
}

function addressOf({ config, secretBox }: HookDeps, { id, tokenEnc }: HookRecord): string {
  return `${config.publicUrl}/api/v1/hooks/${secretBox.open(tokenEnc, 'hook-token', id)}/`;
}
