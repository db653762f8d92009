// The JSON Schema of a run's input, from the fields of its trigger, for models that call the workflow as a tool.
import { defaultOf } from './input.js';
import { isEmpty, isObject, setOwn, type JsonObject } from './json.js';
import { isSecretField } from './secrets.js';

/** JSON Schema types by field type. Other types are strings; `json` allows any value. */
const TYPES: ReadonlyMap<unknown, JsonObject> = new Map<unknown, JsonObject>([
  ['number', { type: 'number' }],
  ['checkbox', { type: 'boolean' }],
  ['boolean', { type: 'boolean' }],
  ['json', {}],
]);

/**
 * Returns the schema of an object with these fields. Omits secret fields: a model is never asked for credentials, and
 * the run uses the field's default. A field is required if the trigger requires it and has no default for it.
 */
export function toInputSchema(fields: readonly JsonObject[]): JsonObject {
  const properties: JsonObject = {};
  const required = new Set<string>();
  for (const field of fields) {
    const { id } = field;
    if (typeof id !== 'string' || isSecretField(field)) continue;
    setOwn(properties, id, toSchema(field));
    if (field['input_requirements'] === true && isEmpty(defaultOf(field))) required.add(id);
  }
  return { type: 'object', properties, ...(required.size > 0 && { required: [...required] }) };
}

function toSchema(field: JsonObject): JsonObject {
  const { title, tooltip, placeholder } = field;
  const description = [title, tooltip, placeholder]
    .filter((text) => typeof text === 'string' && text !== '')
    .join('. ');
  const choices = choicesOf(field);
  const type = choices.length > 0 ? { enum: choices } : (TYPES.get(field['type']) ?? { type: 'string' });
  return { ...type, ...(description !== '' && { description }) };
}

/** The values that the field's form offers, or none if a schema cannot list one of them. */
function choicesOf({ options }: JsonObject): unknown[] {
  if (!Array.isArray(options)) return [];
  const values = options.filter(isObject).map(({ value }) => value);
  const isListable = values.every((value) => ['string', 'number', 'boolean'].includes(typeof value));
  return isListable ? [...new Set(values)] : [];
}
