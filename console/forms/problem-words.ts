import { asText } from '../ui/json.js';
import { toFieldWords } from '../ui/field-words.js';
import { schemaAt, shapeOf, titleOf } from './schema.js';

/** Formats of fields whose values are chosen from a list. */
const CHOSEN = ['model', 'workflow-id', 'connection-id', 'mcp-tool'];

/** Returns a problem of a node's field in words for people. `schema` is that of the node's data. */
export function toProblemWords(schema: unknown, path: string, message: string): string {
  const key = path.split('.').at(-1) ?? '';
  if (path === '' || /^\d+$/.test(key)) return toFieldWords(message);
  const field = schemaAt(schema, path);
  const format = asText(field['format']) ?? '';
  // The data of a new node has 0 instead of the id of a workflow.
  if (format === 'workflow-id' && message.startsWith('Input should be')) return 'Choose the workflow.';
  const isChosen = CHOSEN.includes(format) || shapeOf(field, key) === 'choice';
  return toFieldWords(message, { title: titleOf(field, key), isChosen });
}
