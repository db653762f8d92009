// The tools that an agent can be given, and their data.
import { dataOf, nodesOf, type Drawing } from '../../drawing/drawing.js';
import { startValue } from '../../drawing/change-drawing.js';
import { cutText } from '../../../graph/cut-text.js';
import { MASK } from '../../../graph/mask-text.js';
import { isEqualJson, isObject, type JsonObject } from '../../../graph/json.js';
import { variantOptions } from '../../forms/schema.js';
import { asArray, asObject, asText } from '../../ui/json.js';

/** Returns the schema of a tool of this type. */
export function schemaOfType(list: JsonObject, type: string): JsonObject {
  const options = variantOptions(asObject(list['items']));
  const found = options.find(({ schema }) => asObject(asObject(schema?.['properties'])['type'])['const'] === type);
  return found?.schema ?? {};
}

/** Returns the start value of a tool, with these fields. */
export function newTool(list: JsonObject, type: string, fields: JsonObject, others: readonly unknown[]): JsonObject {
  const tool = { ...asObject(startValue(schemaOfType(list, type))), ...fields, type };
  return type === 'mcp' ? withLabel(tool, others) : tool;
}

/** Labels a server by its address, as `ServerTool` does for each new address until a person writes another label. */
export function withLabel(server: JsonObject, others: readonly unknown[]): JsonObject {
  return { ...server, server_label: labelFor(asText(server['endpoint_url']) ?? '', others) };
}

const MAX_LABEL = 60;

/** Returns the host of the address, with a number where another server has the same label. Empty without a host. */
export function labelFor(address: string, others: readonly unknown[]): string {
  const host = cutText(hostOf(address), MAX_LABEL - 4);
  const used = new Set(others.map((tool) => asObject(tool)['server_label']));
  if (host === '' || !used.has(host)) return host;
  for (let number = 2; ; number += 1) if (!used.has(`${host} ${number}`)) return `${host} ${number}`;
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : '';
}

/**
 * Returns the address that a text means; undefined for any other text. A host without a scheme gets `https://`, but
 * `localhost` and IPv4 addresses get `http://`.
 */
export function addressIn(text: string): string | undefined {
  const trimmed = text.trim();
  if (/^https?:\/\/[^\s/]+/i.test(trimmed)) return URL.canParse(trimmed) ? trimmed : undefined;
  const isHost =
    /^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/\S*)?$/.test(trimmed) || /^localhost(?::\d+)?(?:\/\S*)?$/.test(trimmed);
  if (!isHost) return undefined;
  const isLocal = /^(?:localhost|[\d.]+)(?:[:/]|$)/.test(trimmed);
  return `${isLocal ? 'http' : 'https'}://${trimmed}`;
}

const OF_SERVER = ['endpoint_url', 'transport', 'headers', 'connection', 'timeout'];

/** Returns the servers that other nodes of the drawing use, except those in `list`, without their masked headers. */
export function knownServers(drawing: Drawing, list: readonly unknown[]): JsonObject[] {
  const used = new Set(list.map((tool) => asObject(tool)['endpoint_url']));
  const found: JsonObject[] = [];
  for (const node of nodesOf(drawing).values()) {
    const data = dataOf(node);
    for (const server of [data, ...asArray(data['tools'])].filter(isObject)) {
      const address = asText(server['endpoint_url']) ?? '';
      const fields = withoutSecrets(server);
      const isNew = addressIn(address) !== undefined && !used.has(address);
      if (isNew && !found.some((each) => isEqualJson(each, fields))) found.push(fields);
    }
  }
  return found;
}

function withoutSecrets(server: JsonObject): JsonObject {
  const fields = Object.fromEntries(OF_SERVER.filter((key) => key in server).map((key) => [key, server[key]]));
  const headers = Object.entries(asObject(fields['headers'])).filter(([, value]) => value !== MASK);
  return 'headers' in fields ? { ...fields, headers: Object.fromEntries(headers) } : fields;
}
