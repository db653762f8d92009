// Translates Edit Fields (Set) and Rename Keys.
import { isObject, type JsonObject } from '../graph/json.js';
import { hasVariables } from '../graph/template.js';
import { addForEach } from './data-node.js';
import { parseOrUndefined, translateParameter } from './expressions.js';
import { setAt } from './json-places.js';
import { numberOf, objectOf, objectsOf, textOf, valueAt } from './n8n-file.js';
import { NotTranslatable, oneWay, type NodeTranslation, type TranslatedNode } from './node-translation.js';
import { JsonText } from './parameter-code.js';
import { OLD_SETTING, RENAMING, SETTING } from './runtime/fields.js';

interface Field {
  name: unknown;
  value: unknown;
  type: string;
}

export function translateSet(at: NodeTranslation): TranslatedNode {
  const { parameters, node } = at;
  const hasDots = valueAt(parameters, 'options', 'dotNotation') !== false;
  const isOld = node.version < 3;
  if (!isOld && parameters['mode'] === 'raw') return raw(at, hasDots);
  const fields = isOld ? readOldFields(at) : readFields(at);
  const kept = isOld ? parameters['keepOnlySet'] !== true : includeOf(at) !== 'none';
  const value = kept || at.json.items !== undefined ? undefined : plainValue(at, fields, hasDots);
  if (value !== undefined) {
    const id = at.add('set', { value });
    return oneWay(id, at.resultPlace(id));
  }
  if (isOld) {
    const how = { keepsOthers: kept, hasDots, version: node.version };
    return addForEach(at, {
      parts: [OLD_SETTING],
      parameters: { fields },
      keepsItems: kept,
      makes: `setOldFields(item, parameters.fields, ${JSON.stringify(how)})`,
    });
  }
  return addForEach(at, {
    parts: [SETTING],
    parameters: { fields, ...keptNames(at) },
    keepsItems: kept,
    makes: `setFields(item, parameters.fields, ${howToSet(at, hasDots)})`,
    failing: 'error',
  });
}

function raw(at: NodeTranslation, hasDots: boolean): TranslatedNode {
  const output = at.parameters['jsonOutput'];
  const json = typeof output === 'string' ? new JsonText(output) : output;
  return addForEach(at, {
    parts: [SETTING],
    parameters: { json, ...keptNames(at) },
    keepsItems: includeOf(at) !== 'none',
    makes: `setJson(item, parameters.json, ${howToSet(at, hasDots)})`,
    failing: 'error',
  });
}

/** Returns an expression for how the fields are set. */
function howToSet(at: NodeTranslation, hasDots: boolean): string {
  const how = {
    include: includeOf(at),
    hasDots,
    version: Math.min(at.node.version, 1000),
    ignoresErrors: valueAt(at.parameters, 'options', 'ignoreConversionErrors') === true,
  };
  return `{ ...${JSON.stringify(how)}, included: namesIn(parameters.included), excluded: namesIn(parameters.excluded) }`;
}

function keptNames({ parameters }: NodeTranslation): JsonObject {
  return { included: parameters['includeFields'] ?? '', excluded: parameters['excludeFields'] ?? '' };
}

/** Says which of the incoming fields stay: `all`, `none`, `selected` or `except`. */
function includeOf({ parameters, node }: NodeTranslation): string {
  if (node.version >= 3.3 && parameters['includeOtherFields'] !== true) return 'none';
  const include = textOf(parameters['include']) ?? 'all';
  if (!['all', 'none', 'selected', 'except'].includes(include))
    throw new NotTranslatable(`it keeps "${include}" fields`);
  return include;
}

function readFields({ parameters }: NodeTranslation): Field[] {
  const assigned = objectsOf(valueAt(parameters, 'assignments', 'assignments'));
  const listed = objectsOf(valueAt(parameters, 'fields', 'values'));
  return [
    ...assigned.map(({ name, value, type }): Field => ({ name, value, type: textOf(type) ?? 'string' })),
    // Versions 3.0 to 3.2 store the value in a field named for its type.
    ...listed.map(({ name, type = 'stringValue', ...values }): Field => {
      const field = textOf(type) ?? '';
      const value = values[field] ?? (field === 'booleanValue' ? 'true' : '');
      const isJson = field === 'objectValue' && typeof value === 'string';
      return { name, value: isJson ? new JsonText(value) : value, type: field.replace(/Value$/, '') };
    }),
  ].filter(({ name }) => typeof name === 'string' && name !== '');
}

const OLD_TYPES = ['boolean', 'number', 'string'];

/** Reads the form of versions 1 and 2: `{string: [{name, value}], number: [...], boolean: [...]}`. */
function readOldFields({ parameters }: NodeTranslation): Field[] {
  return OLD_TYPES.flatMap((type) =>
    objectsOf(objectOf(parameters['values'])[type]).map(({ name, value }): Field => {
      return {
        name: name ?? 'propertyName',
        value: value ?? (type === 'number' ? 0 : type === 'boolean' ? false : ''),
        type,
      };
    }),
  );
}

/** Returns the value of an equivalent set node, of literals and texts with variables; undefined if there is none. */
function plainValue(at: NodeTranslation, fields: readonly Field[], hasDots: boolean): JsonObject | undefined {
  const made: JsonObject = {};
  for (const { name, value, type } of fields) {
    const plain = value === null && at.node.version >= 3.2 ? null : plainOf(at, value, type);
    if (typeof name !== 'string' || name.startsWith('=') || plain === undefined) return undefined;
    const path = hasDots ? name.split('.').filter((step) => step !== '') : [name];
    if (path.length === 0 || /[[\]]/.test(name)) return undefined;
    setAt(made, path, plain);
  }
  return made;
}

const ONE_VARIABLE = /^\s*\{\{[^{}]*\}\}\s*$/;

function plainOf(at: NodeTranslation, value: unknown, type: string): unknown {
  if (type === 'number') return numberOf(value);
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type === 'object') {
    const json = typeof value === 'string' && !hasVariables(value) ? parseOrUndefined(value) : undefined;
    return isObject(json) ? json : undefined;
  }
  if (type !== 'string' || typeof value !== 'string') return undefined;
  const translated = translateParameter(value, at.names);
  if (translated.problems.length > 0 || typeof translated.value !== 'string') return undefined;
  return ONE_VARIABLE.test(translated.value) ? undefined : translated.value;
}

export function translateRenameKeys(at: NodeTranslation): TranslatedNode {
  const { parameters } = at;
  return addForEach(at, {
    parts: [RENAMING],
    parameters: {
      keys: objectsOf(valueAt(parameters, 'keys', 'key')).map(({ currentKey = '', newKey = '' }) => ({
        currentKey,
        newKey,
      })),
      patterns: objectsOf(valueAt(parameters, 'additionalOptions', 'regexReplacement', 'replacements')),
    },
    makes: 'renameKeys(item, parameters)',
  });
}
