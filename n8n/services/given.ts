// Reads the parameters of a service node of n8n. Records which were read, so that a warning can name others.
import { isObject, type JsonObject } from '../../graph/json.js';
import { fromEntries } from '../draft.js';
import { textOf, valueAt } from '../n8n-file.js';
import { NotTranslatable, type NodeTranslation } from '../node-translation.js';

const MAX_NAMED = 8;
/** The limit on the length of an address, because the patterns take long for longer texts. */
const MAX_ADDRESS = 2000;

export class Given {
  readonly at: NodeTranslation;
  readonly #read = new Set<string>();

  constructor(at: NodeTranslation) {
    this.at = at;
  }

  /** Returns the parameter as it is in the file. Dots separate the names of a path. */
  raw(path: string): unknown {
    this.#read.add(path);
    return valueAt(this.at.parameters, ...path.split('.'));
  }

  /** Returns a fixed word. Throws `NotTranslatable` for an expression. */
  word(path: string, byDefault: string): string {
    const word = textOf(this.raw(path)) ?? byDefault;
    if (word.startsWith('=')) throw new NotTranslatable(`${path} is known only when it runs`);
    return word;
  }

  /** Returns a value with variables. Undefined if the file does not have the parameter. */
  value(path: string): unknown {
    const raw = this.raw(path);
    return raw === undefined ? undefined : this.at.value(raw, path);
  }

  /** Returns a text with variables. */
  text(path: string): string {
    return this.at.text(this.raw(path) ?? '', path);
  }

  /** Returns a value with variables. A text of digits becomes a number. */
  number(path: string): unknown {
    const value = this.value(path);
    return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  }

  /**
   * Returns the id in a field in which users choose from a list, or enter an id or an address. Throws `NotTranslatable`
   * for an address in which the pattern `address` finds no id.
   */
  id(path: string, address?: RegExp): string {
    const raw = this.raw(path);
    if (!isObject(raw)) return this.at.text(raw ?? '', path);
    const value = this.at.text(raw['value'] ?? '', path);
    if (raw['mode'] !== 'url') return value;
    // The pattern would find the id in the text of a variable.
    if (value.includes('{{')) throw new NotTranslatable(`${path} is an address that is known only when it runs`);
    const found = value.length > MAX_ADDRESS ? undefined : address?.exec(value)?.[1];
    if (found === undefined) throw new NotTranslatable(`${path} is an address, of which no id is known`);
    return found;
  }

  /** Returns the values of `key` in a list of objects. Undefined if the parameter is no list. */
  each(path: string, key: string): unknown[] | undefined {
    const raw = this.raw(path);
    return Array.isArray(raw)
      ? raw.map((item: unknown) => this.at.value(isObject(item) ? item[key] : item, path))
      : undefined;
  }

  /** Returns the entries of a list or a text, both divided at commas. A text with variables is one entry. */
  list(path: string): string[] {
    const raw = this.raw(path);
    const texts = (Array.isArray(raw) ? raw : [raw ?? '']).map((text) => this.at.text(text, path));
    return texts
      .flatMap((text) => (text.includes('{{') ? [text] : text.split(',')))
      .flatMap((text) => text.trim() || []);
  }

  /** Returns the fields of a collection that have a value, by the names in the request. */
  fields(path: string, names: Readonly<Record<string, string>>): JsonObject {
    return fromEntries(
      Object.entries(names).flatMap(([name, field]) => {
        const value = this.value(path === '' ? name : `${path}.${name}`);
        return value === undefined || value === '' ? [] : [[field, value] as const];
      }),
    );
  }

  /** Returns the paths of the first parameters that have a value and were not read, at most `MAX_NAMED`. */
  unread(): string[] {
    const read = [...this.#read];
    return leavesOf(this.at.parameters, '')
      .filter((path) => !read.some((each) => path === each || path.startsWith(`${each}.`)))
      .slice(0, MAX_NAMED);
  }
}

/** Returns the object without values that are undefined or empty lists. */
export function filled(object: JsonObject): JsonObject {
  const isFilled = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return fromEntries(Object.entries(object).filter(([, value]) => isFilled(value)));
}

function leavesOf(value: unknown, path: string): string[] {
  if (isObject(value))
    return Object.entries(value).flatMap(([key, part]) => leavesOf(part, path === '' ? key : `${path}.${key}`));
  const isNothing =
    value === '' || value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  return isNothing ? [] : [path];
}
