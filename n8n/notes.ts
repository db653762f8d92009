// What stands beside the nodes: n8n's sticky notes, and a note for each node that was left out.
import type { JsonObject } from '../graph/json.js';
import type { Spot } from './draft.js';
import { cutText, numberOf, textOf, type N8nNode } from './n8n-file.js';

const MAX_TEXT = 20_000;
const DEFAULT_WIDTH = 240;
const DEFAULT_HEIGHT = 160;

/** `content` is Markdown, which nobody here renders as anything but text. */
export function stickyNote({ parameters }: N8nNode, id: string, spot: Spot): JsonObject {
  return {
    id,
    text: cutText(textOf(parameters['content']) ?? '', MAX_TEXT),
    position: spot,
    width: numberOf(parameters['width']) ?? DEFAULT_WIDTH,
    height: numberOf(parameters['height']) ?? DEFAULT_HEIGHT,
  };
}

/** Its parameters are not kept: they may hold credentials. */
export function leftOutNote(node: N8nNode, reason: string, id: string, spot: Spot): JsonObject {
  const text = `${node.label} (${cutText(node.type, 200)}): ${reason}`;
  return { id, text, position: spot, width: DEFAULT_WIDTH, height: DEFAULT_HEIGHT };
}
