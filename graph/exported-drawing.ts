// Drawings in files. A file never contains credentials. An import reads a credential `********` as empty, whereas a
// save reads it as the stored secret.
import { isObject, leavesOf, type JsonObject } from './json.js';
import { createMasker } from './mask.js';
import { literalsOf, mapCredentials, type CredentialPlace } from './public-drawing.js';
import { MASK } from './mask-text.js';
import { credentialLiteralsIn, type SecretMap } from './secrets.js';

/** The `format` of a file. Increase the number for a change that older readers would misread. */
export const EXPORT_FORMAT = 'workflow-automation/1';

/**
 * Returns a copy of a stored drawing with `********` in place of each credential. The literal texts of headers,
 * addresses and values of actions, including those among `secrets`, which were cut out of the drawing, are masked
 * wherever else they occur. The default of a secret field is not masked elsewhere. A header that consists only of
 * variables and a scheme stays, because it names the source of the credential.
 */
export function maskForExport(drawing: JsonObject, secrets: SecretMap): JsonObject {
  const literals = credentialLiteralsIn(secrets);
  const masked = mapCredentials(drawing, (value, { kind }) => {
    const found = literalsOf(value, kind);
    literals.push(...found);
    return kind === 'header' && found.length === 0 && typeof value === 'string' ? value : MASK;
  });
  const masker = createMasker(literals.filter((literal) => literal !== MASK));
  return masker.isEmpty ? masked : masker.json(masked);
}

interface EmptiedPlace {
  node: string | null;
  message: string;
}

/**
 * Returns a copy of an imported drawing in which each masked credential is empty, with messages about what to fill in.
 */
export function emptyMasked(drawing: JsonObject): { drawing: JsonObject; emptied: EmptiedPlace[] } {
  const emptied: EmptiedPlace[] = [];
  const mapped = mapCredentials(drawing, (value, place) => {
    if (value !== MASK) return value;
    emptied.push({ node: labelOf(place.node), message: toMessage(place) });
    return '';
  });
  return { drawing: mapped, emptied: [...emptied, ...hiddenElsewhere(mapped)] };
}

function toMessage({ label, kind }: CredentialPlace): string {
  if (kind === 'address') return `"${label}" held a user name or password: name a connection, which holds them.`;
  const what = { header: 'header', field: 'default of the secret field', value: 'field' }[kind];
  return `Fill in the ${what} "${label}": a file holds no credentials.`;
}

/** The export has masked the text of a credential everywhere in the drawing, so other texts may need a repair, too. */
function hiddenElsewhere(drawing: JsonObject): EmptiedPlace[] {
  const nodes: unknown[] = Array.isArray(drawing['nodes']) ? drawing['nodes'] : [];
  return nodes.filter(isObject).flatMap((node) => {
    const isHidden = leavesOf(node).some((leaf) => typeof leaf === 'string' && leaf.includes(MASK));
    if (!isHidden) return [];
    return { node: labelOf(node), message: `Replace ${MASK} in its texts: a credential was hidden there.` };
  });
}

export function labelOf(node: JsonObject): string | null {
  const data = isObject(node['data']) ? node['data'] : {};
  const texts = [data['label'], data['name'], node['id']];
  return texts.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? null;
}
