// Reads the body of a message, whose files must belong to the project.
import { z } from 'zod';
import type { Db } from '../../db/core/client.js';
import { findFiles } from '../../db/files/files-repository.js';
import { toFileValue, type FileValue } from '../../files/file-value.js';
import { givenFileIds } from '../../graph/file-values.js';
import { invalidFields } from '../http/errors.js';
import { uuid } from '../http/path-ids.js';
import { RefusedMessage } from './refused-message.js';

const MAX_CONTENT_CHARACTERS = 262_144;
const MOST_FILES = 100;

export const messageBody = z.object({
  content: z.string().max(MAX_CONTENT_CHARACTERS).describe('May be empty where there are files'),
  files: z.array(z.unknown()).max(MOST_FILES).default([]).describe('File values, or ids of files of the project'),
  on_busy: z
    .enum(['queue', 'stop', 'reject'])
    .default('queue')
    .describe('While an earlier message is being answered: wait for it, cancel it and what is queued, or a 409 `busy`'),
  replaces: uuid.optional().describe('The message in whose place this one is asked, or the answer to it'),
});

export interface PostedMessage {
  content: string;
  /** The ids in lower case. */
  fileIds: string[];
  onBusy: 'queue' | 'stop' | 'reject';
  replaces: string | undefined;
}

/** Throws 400 for a malformed message. */
export function readMessage(body: z.infer<typeof messageBody>): PostedMessage {
  const fileIds = givenFileIds('files', body.files);
  if (fileIds === undefined) throw invalidFields({ files: ['Should be a list of files, or of their ids.'] });
  if (body.content.trim() === '' && fileIds.length === 0)
    throw invalidFields({ content: ['This field may not be blank.'] });
  return { content: body.content, fileIds: [...new Set(fileIds)], onBusy: body.on_busy, replaces: body.replaces };
}

/** Throws `RefusedMessage` if the project has no such file. */
export async function loadFiles(db: Db, projectId: number, fileIds: readonly string[]): Promise<FileValue[]> {
  const found = new Map((await findFiles(db, projectId, fileIds)).map((file) => [file.id, toFileValue(file)]));
  return fileIds.map((id) => {
    const file = found.get(id);
    if (file !== undefined) return file;
    throw new RefusedMessage({
      detail: 'The workflow does not take this input.',
      code: 'invalid_input',
      errors: { files: ['The project has no such file.'] },
    });
  });
}
