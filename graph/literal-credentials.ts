// Finds credentials in a drawing that could be in a connection.
import { isCredentialHeader } from './credential-headers.js';
import { ExactNumber } from './exact-number.js';
import { isEmpty, type JsonObject } from './json.js';
import { headersOf, isInValues, mapSecrets, type HeaderPlace } from './secrets.js';

/** A header whose value is a credential, or the variables that provide one. */
export interface CredentialHeader extends HeaderPlace {
  nodeId: string;
  value: string;
}

/** Returns the credential headers of a drawing that have a value, literal or from variables. */
export function credentialHeadersOf(drawing: JsonObject): CredentialHeader[] {
  return headersOf(drawing).flatMap(({ nodeId, value, ...header }) => {
    if (typeof nodeId !== 'string' || isEmpty(value) || !isCredentialHeader(header.name)) return [];
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isText || value instanceof ExactNumber ? [{ nodeId, ...header, value: String(value) }] : [];
  });
}

/** Returns the paths of literal credentials in the values of actions, inside the data of their node. */
export function credentialValuesOf(drawing: JsonObject): string[] {
  const paths: string[] = [];
  mapSecrets(drawing, (value, place) => {
    if (isInValues(place)) paths.push(place.path);
    return value;
  });
  return paths;
}
