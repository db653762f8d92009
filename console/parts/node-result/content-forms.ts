// The forms in which a text can be shown.
import { parseStructure } from '../../ui/json.js';
import { tablesIn, type DataTable } from '../../ui/rows.js';

export type Form = 'text' | 'json' | 'table' | 'markdown';

export interface ContentForms {
  /** The parsed JSON object or array; undefined for any other text. */
  structure: object | undefined;
  tables: readonly DataTable[];
  /** The form at first. */
  usual: Form;
}

/** Longer texts, in characters, are not parsed as JSON. */
const MOST_JSON = 16 * 1024 * 1024;

/** `isAnswer`: a model wrote the text. It is then shown as Markdown unless it is JSON. */
export function formsOf(text: string, isAnswer: boolean): ContentForms {
  const structure = text.length <= MOST_JSON ? parseStructure(text) : undefined;
  const tables = tablesIn(structure);
  const isList = Array.isArray(structure) && tables.length > 0;
  const usual = isList ? 'table' : structure !== undefined ? 'json' : isAnswer ? 'markdown' : 'text';
  return { structure, tables, usual };
}

/** True if the text is shown as a tree with a search field. The tree of an empty object or array has none. */
export function isSearched({ structure }: ContentForms, form: Form): boolean {
  return form === 'json' && structure !== undefined && Object.keys(structure).length > 0;
}
