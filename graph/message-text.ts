import { isObject } from './json.js';

/**
 * Returns the text of a message's content. If the content is a list, only parts of type `text` or `output_text`, or
 * without a type, are text; reasoning and provider extensions have other types. Returns null for a message without
 * content, and undefined for a content that is neither a string nor a list.
 */
export function textOfContent(content: unknown): string | null | undefined {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOfPart).join('') : undefined;
}

const TEXT_TYPES = new Set<unknown>([undefined, null, 'text', 'output_text']);

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type, text } = isObject(part) ? part : {};
  return typeof text === 'string' && TEXT_TYPES.has(type) ? text : '';
}
