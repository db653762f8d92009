// Updates drawings and services of the samples project when the targets' address or the available model has changed.
import { sealUpdate } from '../../api/workflows/drawing-secrets.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { findWorkflows, listWorkflows, updateWorkflow } from '../../db/workflows/workflows-repository.js';
import { moveSampleServices } from './sample-services.js';
import type { SampleSettings } from './samples-file.js';
import { toolsAt } from './samples.js';

interface SamplesProject {
  userId: number;
  projectId: number;
  secretBox: SecretBox;
}

/** More than a project of samples will ever have. */
const MAX_WORKFLOWS = 1_000;

/** Safe to repeat: a moved drawing needs no change, so after a crash the next start continues. */
export async function moveSamples(
  db: Database,
  { userId, projectId, secretBox }: SamplesProject,
  earlier: readonly SampleSettings[],
  settings: SampleSettings,
): Promise<void> {
  const addresses = earlier.map((each) => each.base_url);
  await moveSampleServices(db, projectId, addresses, settings.base_url);
  const reach = { userId };
  const query = { reach, projectId, titleContains: undefined, limit: MAX_WORKFLOWS, offset: 0 };
  const { ids } = await listWorkflows(db, query);
  for (const { id: workflowId, role } of await findWorkflows(db, ids, reach, 0)) {
    if (role === 'viewer') continue;
    await updateWorkflow(db, { workflowId, reach }, (stored) => {
      const drawing = toMoved(stored.document, earlier, settings);
      if (drawing === undefined) return undefined;
      const { sealed, isNewVersion } = sealUpdate(secretBox, drawing, stored);
      return { fields: sealed, isNewVersion };
    });
  }
}

/**
 * Returns a copy of the drawing in which the values of `earlier` are replaced where samples have them: the address in
 * defaults of fields, in addresses of tools and in servers of actions, and the model in nodes. Returns undefined if the
 * drawing has none of these values. Any other value is the user's own.
 */
function toMoved(
  drawing: Record<string, unknown>,
  earlier: readonly SampleSettings[],
  settings: SampleSettings,
): Record<string, unknown> | undefined {
  const [addresses, models] = [earlier.map((each) => each.base_url), earlier.map((each) => each.model)];
  const before = JSON.stringify(drawing);
  const moved = JSON.parse(before, (key, value: unknown) => {
    if (key === 'default_value' && addresses.includes(value as string)) return settings.base_url;
    if (key === 'endpoint_url' && addresses.map(toolsAt).includes(value as string)) return toolsAt(settings.base_url);
    if (key === 'server' && addresses.includes(value as string)) return settings.base_url;
    return key === 'model_name' && models.includes(value as string) ? settings.model : value;
  }) as Record<string, unknown>;
  return JSON.stringify(moved) === before ? undefined : moved;
}
