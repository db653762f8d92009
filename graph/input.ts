// The input of a run: the trigger's fields, and how a request body becomes an input.
import { wrongValue } from './field-values.js';
import { parseJson, writeJson } from './json-text.js';
import { isEmpty, isObject, ownValue, setOwn, type JsonObject } from './json.js';
import { createMasker } from './mask.js';
import { MASK } from './mask-text.js';
import { isSecretField, secretStrings, maskInput, type SecretMap } from './secrets.js';
import type { RunInput } from './variable.js';

export type { RunInput } from './variable.js';

/** An input that is a text, a number or a boolean is stored as a text under this key. */
export const RAW_INPUT = '__raw_input__';

/**
 * The input fields that a conversation fills in, whether the trigger declares them or not. A chat completion gives no
 * `conversation_id`.
 */
export const CHAT_FIELDS = ['message', 'messages', 'conversation_id', 'files'] as const;

// All results of a run are searched for its secrets, and the search stores each secret in memory in several encodings.
// The limit is far above any key or certificate and bounds that memory.
export const MAX_SECRET_CHARACTERS = 65_536;
const TOO_LONG = `Secret fields should have at most ${MAX_SECRET_CHARACTERS} characters in total`;

/**
 * Returns the `input_fields` of the start node, or of the first trigger if there is no start; empty if there is
 * neither.
 */
export function inputFieldsOf(data: unknown): JsonObject[] {
  if (!isObject(data) || !Array.isArray(data['nodes'])) return [];
  const nodes = data['nodes'].filter(isObject);
  const start = nodes.find(({ id }) => typeof id === 'string' && id === data['start_node']);
  const trigger = start ?? nodes.find(({ type }) => type === 'trigger-node');
  const fields = ownValue(trigger?.['data'], 'input_fields');
  return Array.isArray(fields) ? fields.filter(isObject) : [];
}

/**
 * Returns the secret `input_fields` of every node, because a trigger that is not the start node may also declare
 * secrets.
 */
export function secretFieldsOf(data: unknown): JsonObject[] {
  if (!isObject(data) || !Array.isArray(data['nodes'])) return [];
  return data['nodes'].filter(isObject).flatMap((node) => {
    const fields = ownValue(node['data'], 'input_fields');
    return Array.isArray(fields) ? fields.filter(isObject).filter(isSecretField) : [];
  });
}

export function fieldIdsOf(fields: readonly JsonObject[]): Set<string> {
  return new Set(fields.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])));
}

/** Returns a field's own default, or else the value of its first option with `is_default`, or else an empty value. */
export function defaultOf(field: JsonObject): unknown {
  const own = field['default_value'];
  // A mask remains here only if no stored value has replaced it, and is never a value itself.
  if (!isEmpty(own) && own !== MASK) return own;
  const options = Array.isArray(field['options']) ? field['options'].filter(isObject) : [];
  return options.find((option) => option['is_default'] === true && option['value'] !== MASK)?.['value'];
}

/**
 * Fills in defaults where the input has no value (absent or null). Reports each required field that stays empty, each
 * wrong value, and secrets beyond the limit, as `{<field id>: message}`. An input that is an array has no fields to
 * fill.
 */
export function completeInput(
  fields: readonly JsonObject[],
  input: RunInput,
): { input: RunInput; errors: Record<string, string>[] } {
  const completed: RunInput = Array.isArray(input) ? input : { ...input };
  const errors: Record<string, string>[] = [];
  let secretCharacters = 0;
  for (const field of fields) {
    const { id } = field;
    if (typeof id !== 'string') continue;
    const isMissing = (ownValue(completed, id) ?? null) === null;
    const byDefault = isMissing && !Array.isArray(completed) ? defaultOf(field) : undefined;
    if (!isEmpty(byDefault)) setOwn(completed, id, byDefault);
    const value = ownValue(completed, id);
    if (field['input_requirements'] === true && isEmpty(value)) errors.push({ [id]: 'Field required' });
    // Defaults are not checked, because they belong to the drawing. `********` is not checked, because it is never a
    // value: a run replaces it by a stored secret, or counts the field as missing (`keepInputSecrets`).
    const wrong = isMissing || isEmpty(value) || value === MASK ? undefined : wrongValue(field, value);
    if (wrong !== undefined) errors.push({ [id]: wrong });
    if (!isSecretField(field)) continue;
    for (const text of secretStrings(value)) secretCharacters += text.length;
    if (secretCharacters > MAX_SECRET_CHARACTERS) errors.push({ [id]: TOO_LONG });
  }
  return { input: completed, errors };
}

/** Reads the input from a body, as text, that was sent with an API key or to a hook, whatever its content type. */
export function parseApiKeyInput(text: string): RunInput {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text);
    if (value === null) return {};
    if (Array.isArray(value) || isObject(value)) return value;
    return { [RAW_INPUT]: typeof value === 'string' ? value : text };
  } catch {
    return { [RAW_INPUT]: text };
  }
}

/** Reads an input that is a value in a JSON body, such as `input_data` of a body sent with a session token. */
export function parseSessionInput(inputData: unknown): RunInput {
  if (inputData === undefined || inputData === null) return {};
  if (Array.isArray(inputData) || isObject(inputData)) return inputData;
  return { [RAW_INPUT]: typeof inputData === 'string' ? inputData : writeJson(inputData) };
}

// Below: reuse of an earlier run's input in a new run, whose drawing may have changed.

interface Drawn {
  fields: readonly JsonObject[];
  secrets: SecretMap;
}

/**
 * Returns the input of an earlier run for a new one. A value that was secret in the earlier run stays hidden: if its
 * field is no longer secret, `********` replaces the value in the field and its text elsewhere in the input.
 */
export function reuseInput(input: RunInput, then: Drawn, now: Drawn): RunInput {
  const secretNow = new Set(now.fields.filter(isSecretField).map(({ id }) => id));
  const published = then.fields.filter((field) => isSecretField(field) && !secretNow.has(field['id']));
  const stillSecret = new Set([...maskInput(now.fields, input).secretValues, ...textsOf(now.secrets)]);
  const revealed = [...maskInput(then.fields, input).secretValues, ...textsOf(then.secrets)];
  const masker = createMasker(revealed.filter((text) => !stillSecret.has(text)));
  return masker.json(maskInput(published, input).masked);
}

function textsOf(secrets: SecretMap): string[] {
  return Object.values(secrets).flatMap(secretStrings);
}
