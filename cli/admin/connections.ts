import { extractConnections } from '../../api/connections/extract-connections.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import { AdminError, type AdminContext } from './context.js';

/**
 * Moves the literal credentials of a project's drawings into connections. Reports the ones that it does not
 * move, with reasons.
 */
export async function extract(
  { db, secretsKeys, addressRules }: AdminContext,
  { project: projectId, dryRun: isDryRun }: { project: number; dryRun: boolean },
): Promise<object> {
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (project === undefined) throw new AdminError(`There is no project ${projectId}.`);
  const deps = { db, secretBox: createSecretBox(secretsKeys()), config: { addressRules } };
  const workflows = await extractConnections(deps, { projectId, isDryRun });
  return {
    project: projectId,
    dry_run: isDryRun,
    moved: workflows.reduce((sum, { moved }) => sum + moved.length, 0),
    workflows,
  };
}
