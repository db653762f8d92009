// Removes files from drawings that go to another project (docs/use/files.md, "Copies").
import { labelOf } from './exported-drawing.js';
import { replaceFiles } from './file-values.js';
import { isObject, type JsonObject } from './json.js';

interface EmptiedFile {
  node: string | null;
  message: string;
}

/**
 * Returns the drawing with an empty text in place of each literal file of its nodes, and a message for each. Other
 * services use `file_id`, too, so only a value with `sha256` next to its id counts as a file of this service.
 */
export function emptyFiles(drawing: JsonObject): { drawing: JsonObject; emptied: EmptiedFile[] } {
  const { nodes } = drawing;
  if (!Array.isArray(nodes)) return { drawing, emptied: [] };
  const emptied: EmptiedFile[] = [];
  const mapped = nodes.map((node: unknown) => {
    if (!isObject(node) || !isObject(node['data'])) return node;
    const before = emptied.length;
    const data = replaceFiles(node['data'], ({ sha256, name }) => {
      if (typeof sha256 !== 'string') return undefined;
      const named = typeof name === 'string' ? `"${name}"` : 'the one here';
      emptied.push({ node: labelOf(node), message: `Choose a file in place of ${named}, which stays in its project.` });
      return '';
    });
    return emptied.length === before ? node : { ...node, data };
  });
  return emptied.length === 0 ? { drawing, emptied } : { drawing: { ...drawing, nodes: mapped }, emptied };
}
