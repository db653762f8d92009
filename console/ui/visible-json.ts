// JSON as text in which nothing hides: a person who approves a call must see every character of its arguments.
import { ExactNumber } from '../../graph/exact-number.js';
import { writeJson } from '../../graph/json-text.js';

const INDENT = '  ';

/**
 * Characters that are drawn as nothing, as a space, or that turn the direction of the text around them: controls, format
 * and bidirectional marks, fillers, spaces of other widths, private and unassigned ones.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Returns JSON indented by two spaces. Hidden characters are written as `\uXXXX`, which is the same JSON. */
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

/** Returns a name that others have chosen, in which nothing hides. */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, escape);
}

/** Returns one escape for each UTF-16 unit, as JSON writes characters beyond the first plane. */
function escape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
