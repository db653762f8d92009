// Converts between the fields of a start node or a human task, their texts in the form, and the values that are sent:
// the input of a run, or an answer.
import { MASK } from '../../../graph/mask-text.js';
import { dataOf, isStart, nodesOf, startOf, typeOf, type Drawing, type NodeKinds } from '../../drawing/drawing.js';
import { UPLOADING } from '../../service/file-value.js';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { asArray, asText, parseExact } from '../../ui/json.js';

export interface RunField {
  id: string;
  title: string;
  type: string;
  isRequired: boolean;
  isSecret: boolean;
  placeholder: string;
  hint: string | undefined;
  /** Initial text. */
  start: string;
  options: { value: string; label: string }[];
}

/** Returns the fields of the start node, else of the first trigger, as the service does. */
export function runFields(drawing: Drawing, kinds: NodeKinds): RunField[] {
  const nodes = nodesOf(drawing);
  const start =
    nodes.get(startOf(drawing) ?? '') ?? [...nodes.values()].find((node) => isStart(kinds.get(typeOf(node))));
  return fieldsOf(asArray(dataOf(start)['input_fields']));
}

/** Converts a list of fields, as in triggers and human tasks. */
export function fieldsOf(list: readonly unknown[]): RunField[] {
  return list.filter(isObject).flatMap((field) => {
    const id = asText(field['id']);
    return id === undefined || id === '' ? [] : [toField(id, field)];
  });
}

function toField(id: string, field: JsonObject): RunField {
  const isSecret = field['is_secret'] === true;
  const options = asArray(field['options']).filter(isObject);
  const byDefault = field['default_value'] ?? options.find((option) => option['is_default'] === true)?.['value'];
  const isStored = isSecret && byDefault === MASK;
  const tooltip = asText(field['tooltip']) ?? '';
  const hints = [tooltip, isStored ? 'A value is stored; leave this empty to use it.' : ''].filter(
    (each) => each !== '',
  );
  return {
    id,
    title: asText(field['title'])?.trim() || id,
    type: asText(field['type']) ?? 'text',
    isRequired: field['input_requirements'] === true && !isStored,
    isSecret,
    placeholder: asText(field['placeholder']) ?? '',
    hint: hints.length === 0 ? undefined : hints.join(' '),
    start: isStored ? '' : toText(byDefault),
    options: options.map(({ title, value }) => ({ value: toText(value), label: asText(title) || toText(value) })),
  };
}

export function takesFiles({ type }: RunField): boolean {
  return type === 'file' || type === 'files';
}

/** True while a chosen file is uploading. */
export function isUploading(values: ReadonlyMap<string, string>): boolean {
  return [...values.values()].includes(UPLOADING);
}

/** Returns `next`, in which a field that is uploading has its text from `kept`. */
export function withoutUploads<Typed extends { values: ReadonlyMap<string, string> }>(next: Typed, kept: Typed): Typed {
  const settled = [...next.values].map(
    ([id, text]) => [id, text === UPLOADING ? (kept.values.get(id) ?? '') : text] as const,
  );
  return { ...next, values: new Map(settled) };
}

/** Omits empty fields, so that the service applies their defaults. */
export function toInput(fields: readonly RunField[], values: ReadonlyMap<string, string>): JsonObject {
  const entries = fields.flatMap((field) => {
    const text = values.get(field.id) ?? field.start;
    return text === '' || text === UPLOADING ? [] : [[field.id, toValue(field, text)] as const];
  });
  return Object.fromEntries(entries);
}

function toValue(field: RunField, text: string): unknown {
  const { type } = field;
  if (type === 'number') {
    const number = Number(text);
    // Any other text is sent as it is, for example a number with more digits than a double can hold.
    return Number.isFinite(number) && String(number) === text.trim() ? number : text;
  }
  if (type === 'checkbox' || type === 'boolean') return text === 'true';
  if (type !== 'json' && !takesFiles(field)) return text;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** Returns the texts of an input by field id; undefined unless it is an object whose keys are all ids of fields. */
export function toTexts(fields: readonly RunField[], input: unknown): ReadonlyMap<string, string> | undefined {
  if (!isObject(input)) return undefined;
  const entries = Object.entries(input);
  if (entries.some(([key]) => !fields.some(({ id }) => id === key))) return undefined;
  return new Map(entries.map(([key, value]) => [key, toText(value)]));
}

/** Hint of the box `Write the input as JSON`, which cannot be unticked while the fields cannot show the JSON. */
export const ONLY_JSON = 'To go back to the fields, write an object with no other keys than theirs.';

/** Returns the text of a value in the form; empty for null. */
function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
