// The security schemes of a document. The connection of a node satisfies them, so their parameters do not become
// fields.
import { ownValue } from '../graph/json.js';
import { entriesAt, OperationProblem, resolve, type OpenapiDocument } from './document.js';

export interface Security {
  /** The kinds of connections that satisfy a scheme, in the order of the document. */
  connectionKinds: string[];
  /** Parameters that a connection adds to a request: `header:x-api-key` (in lower case), `query:key`. */
  parameters: ReadonlySet<string>;
}

const MOST_SCHEMES = 100;

export function readSecurity(document: OpenapiDocument): Security {
  const { root, isSwagger } = document;
  const schemes = isSwagger
    ? entriesAt(root, 'securityDefinitions')
    : entriesAt(ownValue(root, 'components'), 'securitySchemes');
  const kinds = new Set<string>();
  const parameters = new Set<string>();
  for (const [, given] of schemes.slice(0, MOST_SCHEMES)) {
    const scheme = resolved(document, given);
    const place = ownValue(scheme, 'in');
    const name = ownValue(scheme, 'name');
    if (ownValue(scheme, 'type') === 'apiKey' && typeof name === 'string') {
      if (place === 'header') parameters.add(`header:${name.toLowerCase()}`);
      if (place === 'query') parameters.add(`query:${name}`);
      if (place === 'header' || place === 'query') kinds.add(place);
    } else for (const kind of kindsOf(scheme)) kinds.add(kind);
  }
  return { connectionKinds: [...kinds], parameters };
}

function resolved(document: OpenapiDocument, scheme: unknown): unknown {
  try {
    return resolve(document, scheme);
  } catch (error) {
    if (error instanceof OperationProblem) return undefined;
    throw error;
  }
}

function kindsOf(scheme: unknown): string[] {
  const type = ownValue(scheme, 'type');
  if (type === 'basic') return ['basic'];
  if (type === 'openIdConnect') return ['oauth2'];
  if (type === 'http') {
    const word = String(ownValue(scheme, 'scheme')).toLowerCase();
    return [word === 'basic' || word === 'bearer' ? word : 'header'];
  }
  if (type !== 'oauth2') return [];
  const flows = new Set([...entriesAt(scheme, 'flows').map(([flow]) => flow), String(ownValue(scheme, 'flow'))]);
  const has = (...names: string[]): boolean => names.some((name) => flows.has(name));
  return [
    ...(has('authorizationCode', 'accessCode') ? ['oauth2'] : []),
    ...(has('clientCredentials', 'application') ? ['oauth2_client_credentials'] : []),
    ...(has('implicit', 'password') ? ['bearer'] : []),
  ];
}
