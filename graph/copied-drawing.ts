// Copies a drawing into another project, without the connections, files and credentials of its own project.
import { connectionsIn } from './connections.js';
import { emptyFiles } from './emptied-files.js';
import { labelOf } from './exported-drawing.js';
import type { JsonObject } from './json.js';
import { mapCredentials, replaceCredentials } from './public-drawing.js';

interface Lack {
  node: string | null;
  message: string;
}

interface CopiedDrawing {
  drawing: JsonObject;
  /** The literal credentials that were removed; callers must mask them wherever else they occur. */
  literals: string[];
  /** The credentials, connections and files that the user has to add to the copy. */
  lacks: Lack[];
}

const WHAT = {
  header: 'the header',
  field: 'the default of the secret field',
  address: 'the credentials of the address in',
  value: 'the field',
};

export function copyDrawing(source: JsonObject): CopiedDrawing {
  const lacks: Lack[] = [];
  mapCredentials(source, (value, { node, label, kind }) => {
    lacks.push({ node: labelOf(node), message: `Fill in ${WHAT[kind]} "${label}": a copy holds no credentials.` });
    return value;
  });
  for (const { node } of connectionsIn(source)) {
    lacks.push({ node: labelOf(node), message: 'Choose the connection that it uses.' });
  }
  const { drawing: open, literals } = replaceCredentials(source, '');
  const { drawing, emptied } = emptyFiles(open);
  return { drawing, literals, lacks: [...lacks, ...emptied] };
}
