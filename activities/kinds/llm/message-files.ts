// Converts the messages of a node with their files to the messages of the provider's API. Images, PDF and sound become
// content parts if the model accepts them; all other files, and PDF otherwise, become text. The result is built for
// each call and not stored.
import { MAX_MODEL_FILE_BYTES, MAX_MODEL_FILES, namedFiles } from '../../../graph/file-values.js';
import type OpenAI from 'openai';
import { buffer } from 'node:stream/consumers';
import type { ResolvedModel } from '../../../config/model-providers.js';
import type { StoredFile } from '../../../db/files/files-repository.js';
import { fileKindOf } from '../../../files/file-kind.js';
import type { LlmNodeData } from '../../../graph/nodes/llm.js';
import { renderJson, renderText, type VariableValues } from '../../../graph/template.js';
import { declaredEncoding } from '../../../outgoing/text-of-bytes.js';
import type { DocumentTexts } from '../../files/document-texts.js';
import { NodeFailure } from '../../node/failures.js';
import { filesTooLarge, type FileUse } from '../../files/file-use.js';
import type { NodeTask } from '../../node/node-step.js';

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Part = OpenAI.Chat.ChatCompletionContentPart;

export interface MessageFilesDeps {
  files: FileUse;
  texts: DocumentTexts;
}

interface MessagesInput {
  messages: LlmNodeData['messages'];
  values: VariableValues;
  model: ResolvedModel;
  modelName: string;
}

/** Bytes of memory per byte of a file: the read bytes, their base64, and the body that is written and sent. */
const HELD_FACTOR = 7;

/**
 * Renders the messages. Enlarges the task's lease by the memory of their files. Before any byte is read, throws the
 * errors of `FileUse.find`, and `file_too_large` for too many files or bytes. Afterwards throws `file_type` for a file
 * that the model does not accept, `file_without_text` for a document without text, `file_too_large` if the texts of
 * documents are too long, and the errors of `FileUse.read` and `DocumentTexts`.
 */
export async function toModelMessages(
  deps: MessageFilesDeps,
  task: NodeTask,
  input: MessagesInput,
): Promise<Message[]> {
  const { values, messages } = input;
  const found: { role: string; text: string; files: StoredFile[] }[] = [];
  let count = 0;
  const bytes = createSum();
  for (const { role, message, files: templates } of messages) {
    const named = namedFiles(templates === undefined ? null : renderJson(templates, values));
    count += named.length;
    if (count > MAX_MODEL_FILES)
      throw new NodeFailure('file_too_large', `The model is given more than ${MAX_MODEL_FILES} files.`);
    const files: StoredFile[] = [];
    for (const value of named) files.push(await deps.files.find(task, value));
    for (const { size } of files) bytes.add(size);
    found.push({ role, text: renderText(message, values), files });
  }
  const heldBytes = task.memory.bytes;
  const sent = createSum();
  if (count > 0) await task.memory.resize(heldBytes + HELD_FACTOR * bytes.sum());
  const made: Message[] = [];
  for (const { role, text, files } of found) {
    const parts: Part[] = [{ type: 'text', text }];
    for (const file of files) {
      const part = await toPart(deps, task, { file, ...input });
      sent.add(part.type === 'text' ? Buffer.byteLength(part.text) : file.size);
      // A document may have much more text than bytes.
      if (sent.sum() > bytes.sum()) await task.memory.resize(heldBytes + HELD_FACTOR * (bytes.sum() + sent.sum()));
      parts.push(part);
    }
    made.push({ role, content: joined(parts) } as Message);
  }
  return made;
}

function createSum() {
  let sum = 0;
  return {
    add(bytes: number): void {
      sum += bytes;
      if (sum > MAX_MODEL_FILE_BYTES) throw filesTooLarge('The model is given', MAX_MODEL_FILE_BYTES);
    },
    sum: () => sum,
  };
}

/** Joins text parts, because many servers accept a list of parts only if one of them is not text. */
function joined(parts: Part[]): string | Part[] {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  return texts.every((text) => text !== undefined) ? texts.join('\n\n') : parts;
}

async function toPart(
  { files, texts }: MessageFilesDeps,
  task: NodeTask,
  { file, model, modelName }: MessagesInput & { file: StoredFile },
): Promise<Part> {
  const bytes = await buffer(await files.read(file, task.signal));
  const found = fileKindOf(bytes);
  const { name } = file;
  if (found.kind === 'image' && model.accepts.includes('image')) {
    return { type: 'image_url', image_url: { url: dataUri(found.type, bytes) } };
  }
  if (found.kind === 'pdf' && model.accepts.includes('pdf')) {
    return { type: 'file', file: { filename: name, file_data: dataUri('application/pdf', bytes) } };
  }
  if (found.kind === 'audio' && model.accepts.includes('audio')) {
    return { type: 'input_audio', input_audio: { data: bytes.toString('base64'), format: found.format } };
  }
  const refused = (what = ''): NodeFailure => {
    return new NodeFailure(
      'file_type',
      `The model "${modelName}" does not take the file ${JSON.stringify(name)}${what}.`,
    );
  };
  if (found.kind === 'image') throw refused(', which is an image');
  if (found.kind === 'audio') throw refused(', which is a sound');
  const source = { file, projectId: task.run.projectId, signal: task.signal };
  // Bytes without a detectable encoding are not text, so the file type is refused. If the file declares an encoding,
  // the error `file_encoding` stays.
  const isDeclared = declaredEncoding(bytes, file.type) !== undefined;
  const text = await texts.textOf(bytes, source).catch((error: unknown) => {
    const isNoText = error instanceof NodeFailure && error.code === 'file_encoding' && !isDeclared;
    throw isNoText ? refused() : error;
  });
  if (found.kind === 'other' && text.includes('\0')) throw refused();
  if (found.kind !== 'other' && !hasCharacters(text)) {
    throw new NodeFailure(
      'file_without_text',
      `The document ${JSON.stringify(name)} has no text, as scans have none, and the model "${modelName}" takes its text alone.`,
    );
  }
  return { type: 'text', text: `${name}:\n${text}` };
}

/** Blanks and invisible characters do not count as text. */
function hasCharacters(text: string): boolean {
  return /[^\p{Z}\p{Cc}\p{Cf}]/u.test(text);
}

function dataUri(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}
