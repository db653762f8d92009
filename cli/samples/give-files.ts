// Stores the files of samples as defaults of their file fields, so that a sample runs without choosing files.
import { sealUpdate } from '../../api/workflows/drawing-secrets.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { findWorkflows, listWorkflows, updateWorkflow } from '../../db/workflows/workflows-repository.js';
import { Readable } from 'node:stream';
import type { FileValue } from '../../files/file-value.js';
import type { Files } from '../../files/files.js';
import { filesOfSample, loadSamples, withFileDefaults } from './samples.js';

interface SamplesProject {
  userId: number;
  projectId: number;
  secretBox: SecretBox;
  files: Files;
}

const MAX_WORKFLOWS = 1_000;

/** Safe to repeat: after a crash the files are saved again, and the API later deletes unreferenced ones. */
export async function giveFiles(db: Database, { userId, projectId, secretBox, files }: SamplesProject): Promise<void> {
  const reach = { userId };
  const query = { reach, projectId, titleContains: undefined, limit: MAX_WORKFLOWS, offset: 0 };
  const workflows = await findWorkflows(db, (await listWorkflows(db, query)).ids, reach, 0);
  for (const sample of loadSamples()) {
    const workflow = workflows.find(({ title }) => title === sample.title);
    if (workflow === undefined || sample.files === undefined) continue;
    const values = new Map<string, FileValue>();
    for (const { field, name, type, bytes } of filesOfSample(sample)) {
      const stream = Readable.from([bytes], { objectMode: false });
      values.set(field, await files.save({ projectId, userId, name, type }, stream));
    }
    await updateWorkflow(db, { workflowId: workflow.id, reach }, (stored) => {
      const { sealed } = sealUpdate(secretBox, withFileDefaults(stored.document, values), stored);
      // The finished sample is the first version of its workflow.
      return { fields: sealed, isNewVersion: false };
    });
  }
}
