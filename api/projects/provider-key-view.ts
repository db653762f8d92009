import { z } from 'zod';
import type { ProviderKeyRecord } from '../../db/projects/provider-key-changes.js';

export const providerKeySchema = z.object({
  id: z.int(),
  name: z.string(),
  provider: z.string(),
  masked_key: z.string(),
  created_at: z.iso.datetime(),
});

/** Never the key itself. */
export function toProviderKey(key: ProviderKeyRecord): z.infer<typeof providerKeySchema> {
  const { id, name, provider, masked_key, created_at } = key;
  return { id, name, provider, masked_key, created_at: created_at.toISOString() };
}
