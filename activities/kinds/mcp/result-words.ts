// Describes the parts of a tool's result that are not text: its links and its structured data.
import { isEqualJson, isObject, ownValue } from '../../../graph/json.js';
import { writeJson } from '../../../graph/json-text.js';
import type { McpToolResult } from '../../../outgoing/mcp-types.js';
import { toShallowJson } from '../../../graph/shallow-json.js';

/** Returns the name and the address of a link to a resource; undefined for another part. */
export function linkIn(part: unknown): string | undefined {
  if (!isObject(part) || ownValue(part, 'type') !== 'resource_link') return undefined;
  const [name, uri] = [ownValue(part, 'name'), ownValue(part, 'uri')];
  if (typeof uri !== 'string') return undefined;
  return `[resource_link ${typeof name === 'string' ? `${JSON.stringify(name)}: ` : ''}${uri}]`;
}

/**
 * Returns the structured data as JSON text. Returns an empty string if there is none, or if a text repeats
 * it, as the protocol recommends.
 */
export function structuredText({ structuredContent, parts }: McpToolResult): string {
  if (structuredContent === undefined || structuredContent === null) return '';
  const written = writeJson(structuredContent);
  const isHeld = parts.some((part) => {
    const text = isObject(part) && ownValue(part, 'type') === 'text' ? ownValue(part, 'text') : undefined;
    if (typeof text !== 'string') return false;
    return text.includes(written) || isEqualJson(toShallowJson(text), structuredContent);
  });
  return isHeld ? '' : written;
}
