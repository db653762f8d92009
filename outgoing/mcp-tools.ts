// Reads the tools of a server one by one, so that an invalid tool does not affect the others.
import { cutText } from '../graph/cut-text.js';
import { isObject, ownValue, type JsonObject } from '../graph/json.js';
import type { McpTool } from './mcp-types.js';

/** A tool in the form in which models get it. */
interface OfferedTool {
  name: string;
  description: string;
  /** The JSON Schema of the arguments, whose type is `object`. */
  parameters: JsonObject;
}

/** A tool that models cannot get. */
export interface RefusedTool {
  /** Empty for a tool without a name. */
  name: string;
  reason: string;
}

export interface ToolList {
  offered: OfferedTool[];
  refused: RefusedTool[];
}

export function isTool(item: unknown): item is McpTool {
  return isObject(item) && typeof ownValue(item, 'name') === 'string';
}

/** The maximum number of a server's refused tools that are reported. */
export const MAX_REFUSED = 100;
const MAX_NAME_CHARACTERS = 200;

/** Prepares refused tools for readers. Secrets are masked before the names are cut. */
export function toShownTools(refused: readonly RefusedTool[], mask: (text: string) => string): RefusedTool[] {
  return refused.slice(0, MAX_REFUSED).map(({ name, reason }) => ({
    name: cutText(mask(name), MAX_NAME_CHARACTERS).replaceAll('\0', '\uFFFD'),
    reason,
  }));
}

/** `allowed` lists the names of the wanted tools; all tools if it is absent. */
export function readTools(items: readonly unknown[], allowed: readonly string[] | null | undefined): ToolList {
  const list: ToolList = { offered: [], refused: [] };
  for (const item of items) {
    const name = isTool(item) ? item.name : '';
    if (allowed !== undefined && allowed !== null && !allowed.includes(name)) continue;
    const parameters = isTool(item) ? toParameters(ownValue(item, 'inputSchema')) : undefined;
    const reason = whyNot(item, parameters);
    if (reason !== undefined) list.refused.push({ name, reason });
    else list.offered.push({ name, description: descriptionOf(item), parameters: parameters! });
  }
  return list;
}

function whyNot(item: unknown, parameters: JsonObject | undefined): string | undefined {
  if (!isTool(item)) return 'It has no name.';
  if (item.name.includes('\0')) return 'Its name holds a null character.';
  return parameters === undefined ? 'The type of its input schema is not "object".' : undefined;
}

/**
 * Returns undefined for a schema whose type is not `object`. An absent or empty schema becomes that of an object
 * without fields.
 */
function toParameters(schema: unknown): JsonObject | undefined {
  if (schema === undefined || schema === null) return { type: 'object', properties: {} };
  if (!isObject(schema)) return undefined;
  if (Object.keys(schema).length === 0) return { type: 'object', properties: {} };
  const type = ownValue(schema, 'type');
  if (typeof type !== 'string' || type.toLowerCase() !== 'object') return undefined;
  return type === 'object' ? schema : { ...schema, type: 'object' };
}

function descriptionOf(item: unknown): string {
  const description = ownValue(item, 'description');
  return typeof description === 'string' ? description : '';
}
