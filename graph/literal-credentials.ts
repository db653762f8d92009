// Finds credentials that stand in headers of a drawing, where a connection could be named.
import { isCredentialHeader, isOnlyVariables } from './credential-headers.js';
import { ExactNumber } from './exact-number.js';
import { isEmpty, type JsonObject } from './json.js';
import { MASK } from './mask-text.js';
import { headersOf } from './secrets.js';

/** A header that holds a credential, or the variables that a credential comes from. */
export interface CredentialHeader {
  nodeId: string;
  /** The path inside the node's data of what has the headers: `tools.<index>` of an agent, or empty for the data itself. */
  owner: string;
  /** The origin to which it is sent. It is the text of the address where variables decide about the origin. */
  origin: string;
  name: string;
  /** The path of the header inside the node's data. */
  path: string;
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

/**
 * Lists the credential headers of a drawing whose values are in the drawing itself. `drawing` contains its secrets: a
 * header that is still `********` has no value.
 */
export function literalCredentialsOf(drawing: JsonObject): CredentialHeader[] {
  return credentialHeadersOf(drawing).filter(({ value }) => value !== MASK && !isOnlyVariables(value));
}
