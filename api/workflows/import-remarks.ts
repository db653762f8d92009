// Remarks of an import of n8n: its warnings about parts of the file that were left out or that a person must check.
// They stay in the drawing (`remarks`), so that editors show them at their nodes until a person has settled them. Runs
// ignore them. A re-imported export of this service keeps the remarks in its drawing.
import { ownValue, type JsonObject } from '../../graph/json.js';
import { labelOf } from '../../graph/exported-drawing.js';
import { objectsOf, type ImportFix, type ImportWarning } from '../../n8n/n8n-file.js';

/** Further remarks are dropped, because nobody would work through more. */
const MOST_REMARKS = 200;

interface Remark {
  id: string;
  /** Null for the whole drawing, and for a node that was left out. */
  node_id: string | null;
  message: string;
  fix?: ImportFix;
}

export function withRemarks(drawing: JsonObject, warnings: readonly ImportWarning[]): JsonObject {
  if (warnings.length === 0) return drawing;
  const ids = new Map<string, string>();
  for (const node of objectsOf(drawing['nodes'])) {
    const [label, id] = [labelOf(node), ownValue(node, 'id')];
    if (label !== null && typeof id === 'string' && !ids.has(label)) ids.set(label, id);
  }
  const remarks = warnings.slice(0, MOST_REMARKS).map(({ node, message, fix }, index): Remark => {
    const nodeId = node === null ? undefined : ids.get(node);
    return {
      id: `remark-${index + 1}`,
      node_id: nodeId ?? null,
      message: node === null || nodeId !== undefined ? message : `${node}: ${message}`,
      ...(fix !== undefined && { fix }),
    };
  });
  return { ...drawing, remarks };
}

/** Returns the warnings for the answer, without their fixes. */
export function toImportWarnings(warnings: readonly ImportWarning[]): { node: string | null; message: string }[] {
  return warnings.map(({ node, message }) => ({ node, message }));
}
