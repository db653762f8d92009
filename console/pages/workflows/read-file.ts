import { isObject, type JsonObject } from '../../drawing/json.js';

/** Below what the service takes. */
const MAX_BYTES = 10_000_000;

/** The file as the service takes it, with the file's name for a title where it has none. Throws a `FileProblem`. */
export async function readFile(file: File): Promise<JsonObject> {
  if (file.size > MAX_BYTES) throw new FileProblem('it is larger than 10 MB');
  return withTitle(parse(await file.text()), file.name.replace(/\.json$/i, ''));
}

/** Its message says why a file cannot be read, as the end of a sentence. */
export class FileProblem extends Error {}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new FileProblem('it is not a workflow in JSON');
}

/** Files of this service have a `title`, those of n8n a `name`, and a drawing by itself neither. */
function withTitle(file: JsonObject, title: string): JsonObject {
  if (isObject(file['data'])) return { title, ...file };
  if (isObject(file['connections'])) return { name: title, ...file };
  return Array.isArray(file['nodes']) && file['edges'] !== undefined ? { title, data: file } : file;
}
