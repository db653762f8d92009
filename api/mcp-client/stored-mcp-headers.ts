// Finds the stored headers of a workflow's MCP server, which authenticate the editor's request for its tools.
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { MASK } from '../../graph/mask-text.js';
import { traitsOfType } from '../../graph/secrets.js';
import { hasVariables } from '../../graph/template.js';
import { invalidFields } from '../http/errors.js';

export type Headers = Record<string, string>;

/**
 * Returns the headers that a node stores for the server at `endpointUrl`, or else for its first server of that origin.
 * `drawing` contains its secrets. Throws 400 if there is no such node with a server of that origin: stored headers are
 * sent only to the origin that they were stored with. Omits headers with a variable, which has no value outside a run,
 * and `********` without a stored value.
 */
export function findStoredHeaders(drawing: JsonObject, nodeId: string, endpointUrl: string): Headers {
  const servers = serversOf(drawing, nodeId);
  if (servers.length === 0) throw invalidFields({ node_id: ['The workflow has no such node with an MCP server.'] });
  const sameOrigin = servers.filter((server) => originOf(server['endpoint_url']) === originOf(endpointUrl));
  const server = sameOrigin.find((each) => each['endpoint_url'] === endpointUrl) ?? sameOrigin[0];
  if (server === undefined) {
    throw invalidFields({ endpoint_url: ['The stored headers of this node belong to another server.'] });
  }
  const headers = ownValue(server, 'headers');
  const entries = Object.entries(isObject(headers) ? headers : {}).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== MASK && !hasVariables(value)));
}

/**
 * A header of the request replaces the stored one of the same name, ignoring case. `********` stands for the stored
 * value; the 400 names a header that has none.
 */
export function mergeHeaders(stored: Headers, sent: Headers): Headers {
  const merged = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    if (value === MASK && merged.has(lower)) continue;
    if (value === MASK) {
      throw invalidFields({ headers: [`Nothing is stored for the header "${name}"; enter its value again.`] });
    }
    merged.set(lower, value);
  }
  return Object.fromEntries(merged);
}

/** An MCP node names one server; an agent names one in each entry of its `tools` that is no action. */
function serversOf(drawing: JsonObject, nodeId: string): JsonObject[] {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const node = nodes.find(({ id }) => id === nodeId);
  const data = node?.['data'];
  if (!isObject(data)) return [];
  const { servers } = traitsOfType(node?.['type']);
  if (servers === 'endpoint_url') return [data];
  const tools = servers === 'tools' ? ownValue(data, 'tools') : undefined;
  return Array.isArray(tools) ? tools.filter(isObject) : [];
}

function originOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : undefined;
}
