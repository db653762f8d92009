// Creates the project "Samples" of the local user, once for each such user (docs/operate/operations.md, "`npm start`").
import { resolveActions } from '../../api/services/resolve-actions.js';
import { sealDrawing } from '../../api/workflows/drawing-secrets.js';
import type { Database } from '../../db/core/client.js';
import { reserveId } from '../../db/core/reserve-id.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Files } from '../../files/files.js';
import { insertProject, listProjects } from '../../db/projects/projects-repository.js';
import { insertWorkflow } from '../../db/workflows/workflows-repository.js';
import { giveFiles } from './give-files.js';
import { moveSamples } from './move-samples.js';
import { makeSampleServices } from './sample-services.js';
import { readSamplesFile, writeSamplesFile, type SampleSettings } from './samples-file.js';
import { loadSamples, placeSample, withDefaults } from './samples.js';

const NAME = 'Samples';

interface SamplesOwner {
  userId: number;
  dataDir: string;
  secretBox: SecretBox;
  files: Files;
}

/**
 * Creates the samples unless an earlier start has created them. Samples that the user has since deleted or changed stay
 * as they are, except for addresses and models from earlier starts, which are replaced if `settings` has others.
 *
 * Runs before the API, so nobody changes the samples meanwhile. `settings` is written to disk before a drawing contains
 * it, and the project and its workflows are one transaction: after a crash the next start finds the project or creates
 * it. After that transaction the files of the samples are stored, and only then the project's id is written to disk.
 */
export async function ensureSamples(db: Database, owner: SamplesOwner, settings: SampleSettings): Promise<void> {
  const { dataDir } = owner;
  const before = readSamplesFile(dataDir);
  const earlier = (before?.settings ?? []).filter((each) => !isSame(each, settings));
  if (before?.project_id !== undefined && earlier.length === 0) return;
  writeSamplesFile(dataDir, { ...before, settings: [...earlier, settings] });
  const made = before === undefined ? undefined : (before.project_id ?? (await findUnrecorded(db, owner)));
  const projectId = made ?? (await makeProject(db, owner, settings));
  if (earlier.length > 0) await moveSamples(db, { ...owner, projectId }, earlier, settings);
  if (before?.project_id === undefined) await giveFiles(db, { ...owner, projectId });
  writeSamplesFile(dataDir, { settings: [settings], project_id: projectId });
}

function isSame(left: SampleSettings, right: SampleSettings): boolean {
  return left.base_url === right.base_url && left.model === right.model;
}

/** Finds the project of a start that died before the project's id was written to disk. */
async function findUnrecorded(db: Database, { userId }: SamplesOwner): Promise<number | undefined> {
  const query = { reach: { userId }, nameContains: NAME, limit: 1_000, offset: 0 };
  const { projects } = await listProjects(db, query);
  return projects.find(({ name, created_by: creator }) => name === NAME && creator === userId)?.id;
}

function makeProject(db: Database, { userId, secretBox }: SamplesOwner, settings: SampleSettings): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const fields = { name: NAME, webhook_url: '', is_webhook_enabled: false };
    const { id: projectId } = await insertProject(transaction, userId, fields);
    const made = new Map<string, number>();
    const services = await makeSampleServices(transaction, projectId, settings.base_url);
    for (const sample of loadSamples()) {
      const { title, data, is_chat: isChat = false } = withDefaults(placeSample(sample, settings, made, services));
      const drawing = await resolveActions(transaction, projectId, { ...data });
      const id = await reserveId(transaction, 'workflows');
      const place = { id, project_id: projectId };
      const { document, secrets_enc: secretsEnc } = sealDrawing(secretBox, place, drawing);
      const workflow = { id, projectId, authorId: userId, title, isChat, document, secretsEnc };
      made.set(sample.name, (await insertWorkflow(transaction, workflow))!);
    }
    return projectId;
  });
}
