import { isObject } from './json.js';

/**
 * Returns the text of a message's content: that of a list is in its parts of type `text` and `output_text`, and in those
 * without a type. Thoughts, and whatever else a provider adds, have other types. Null for a message that says nothing;
 * undefined for a content that is neither a text nor a list.
 */
export function textOfContent(content: unknown): string | null | undefined {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOfPart).join('') : undefined;
}

const SAID = new Set<unknown>([undefined, null, 'text', 'output_text']);

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type, text } = isObject(part) ? part : {};
  return typeof text === 'string' && SAID.has(type) ? text : '';
}
