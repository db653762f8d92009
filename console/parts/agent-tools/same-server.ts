import { isEqualJson, type JsonObject } from '../../../graph/json.js';
import { asObject } from '../../ui/json.js';

/**
 * True if two requests ask the same MCP server with the same connection and headers of the same names. A save adds the
 * ids of the node to the request and masks the values of secret headers, so neither is compared.
 */
export function isSameServer(one: JsonObject, other: JsonObject): boolean {
  return isEqualJson(toServer(one), toServer(other));
}

function toServer({ endpoint_url, transport, headers, connection }: JsonObject): unknown[] {
  return [endpoint_url, transport ?? null, Object.keys(asObject(headers)).toSorted(), connection ?? null];
}
