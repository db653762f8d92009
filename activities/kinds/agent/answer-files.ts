// The files that the tools of an agent have returned. With the answer of a tool, the model gets the values of its files
// and can pass these on, but does not get the bytes.
import type { Database } from '../../../db/core/client.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { findFilesOfRun } from '../../../db/files/files-repository.js';
import type { AnsweredToolCall } from '../../../db/agents/agent-repository.js';
import { toFileValue } from '../../../files/file-value.js';
import { fileIdOf, type FileValue } from '../../../graph/file-values.js';
import type { NodeTask } from '../../node/node-step.js';
import { toShallowJson } from '../../../graph/shallow-json.js';
import { openAnswer } from './agent-messages.js';
import { NO_SERVER } from './workflow-tools.js';

const MARK = 'Files: ';

/** Appends a last line with the files to the answer that the model gets. */
export function withFiles(text: string, files: readonly FileValue[]): string {
  if (files.length === 0) return text;
  return `${text}${text === '' ? '' : '\n'}${MARK}${JSON.stringify(files)}`;
}

/**
 * Returns the files in the order of the calls. A tool may itself write a line like that of `withFiles`, so only files
 * that this run has created are returned.
 */
export async function filesOfAnswers(
  { db, secretBox }: { db: Database; secretBox: SecretBox },
  task: NodeTask,
  calls: readonly AnsweredToolCall[],
): Promise<FileValue[]> {
  const named = calls
    .filter(({ serverLabel }) => serverLabel !== null && serverLabel !== NO_SERVER)
    .flatMap((call) => idsIn(openAnswer(call, { secretBox, agent: task })));
  const found = await findFilesOfRun(db, task.runId, named);
  const known = new Map(found.map((file) => [file.id, toFileValue(file)]));
  return [...new Set(named)].flatMap((id) => known.get(id) ?? []);
}

function idsIn(answer: string): string[] {
  const last = answer.slice(answer.lastIndexOf('\n') + 1);
  const files = last.startsWith(MARK) ? toShallowJson(last.slice(MARK.length)) : undefined;
  return Array.isArray(files) ? files.flatMap((file) => fileIdOf(file) ?? []) : [];
}
