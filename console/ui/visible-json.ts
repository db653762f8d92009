// Formats JSON without hidden characters: a person who approves a call must see every character of its arguments.
import { ExactNumber } from '../../graph/exact-number.js';
import { writeJson } from '../../graph/json-text.js';

const INDENT = '  ';

/**
 * Characters that are invisible, look like a space, or change the text direction: controls, format and bidirectional
 * marks, fillers, other spaces, private and unassigned ones.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Returns JSON with an indent of two spaces. Hidden characters are written as `\uXXXX`, which is equivalent JSON. */
export function toVisibleJson(value: unknown, margin = ''): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return leaf(value);
  const inner = margin + INDENT;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${toVisibleJson(item, inner)}`);
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${margin}]`;
  }
  const members = Object.entries(value).map(([key, member]) => `${inner}${leaf(key)}: ${toVisibleJson(member, inner)}`);
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${margin}}`;
}

function leaf(value: unknown): string {
  return toVisibleText(writeJson(value));
}

/** Escapes hidden characters in a text that others have chosen. */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, escape);
}

/** Escapes each UTF-16 unit, as JSON does for characters beyond the first plane. */
function escape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
