// Finds credentials that stand in headers of a drawing, where a connection could be named.
import { isCredentialHeader } from './credential-headers.js';
import { ExactNumber } from './exact-number.js';
import { isEmpty, type JsonObject } from './json.js';
import { headersOf, type HeaderPlace } from './secrets.js';

/** A header that holds a credential, or the variables that a credential comes from. */
export interface CredentialHeader extends HeaderPlace {
  nodeId: string;
  value: string;
}

/** Lists the credential headers of a drawing that have a value, whether the value is literal or variables. */
export function credentialHeadersOf(drawing: JsonObject): CredentialHeader[] {
  return headersOf(drawing).flatMap(({ nodeId, value, ...header }) => {
    if (typeof nodeId !== 'string' || isEmpty(value) || !isCredentialHeader(header.name)) return [];
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isText || value instanceof ExactNumber ? [{ nodeId, ...header, value: String(value) }] : [];
  });
}
