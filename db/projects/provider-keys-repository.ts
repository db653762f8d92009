import type { Db } from '../core/client.js';

/** The sealed key that a project has for a provider; the newest where there are several. */
export async function findProviderKey(db: Db, projectId: number, provider: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('provider_keys')
    .select('key_enc')
    .where('project_id', '=', projectId)
    .where('provider', '=', provider)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.key_enc;
}
