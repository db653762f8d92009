// Reads results that are too large to be read with their run, while the answer is sent.
import type { Db } from '../../db/core/client.js';
import { readResultPieces, readResults } from '../../db/nodes/result-pieces.js';
import { PIECE_BYTES } from '../../db/core/text-pieces.js';
import { LazyJson, lazyText, type AnswerMemory } from '../http/json-text.js';
import { TEXT_COPIES } from '../../memory/json-copies.js';

/** Consecutive results are read together up to this many bytes. */
const TOGETHER_BYTES = 256 * 1024;
interface ApartNode {
  id: string;
  /** The size of a result that is too large to be read with its run; else null or absent. */
  apartBytes?: number | null;
}

interface Group {
  ids: string[];
  bytes: number;
}

/**
 * Returns a function that reads the result of one of `nodes` that has `apartBytes`. All nodes are from the scope at
 * `path`. Small neighbours form a group, which is read once if the results are read in the order of `nodes`.
 * `contentLimit`: contents are cut after this many characters; null for no limit.
 */
export function readApartFrom(
  db: Db,
  place: { runId: string; path: string },
  nodes: readonly ApartNode[],
  contentLimit: number | null = null,
): (nodeId: string) => LazyJson {
  const groups = groupNeighbours(nodes);
  // The group that each answer has read last, by the answer's memory: several answers, each with its own memory, may be
  // sent from the same body at once.
  const current = new WeakMap<AnswerMemory, { group: Group; texts: Map<string, string> }>();
  return (nodeId) => {
    const group = groups.get(nodeId)!;
    if (group.bytes > TOGETHER_BYTES) {
      const pieces = () => readResultPieces(db, { ...place, nodeId });
      return lazyText(pieces, Math.min(PIECE_BYTES, TEXT_COPIES * group.bytes));
    }
    return new LazyJson(async function* (memory) {
      let read = current.get(memory);
      if (read?.group !== group) {
        if (read !== undefined) memory.give(TEXT_COPIES * read.group.bytes);
        current.delete(memory);
        await memory.take(TEXT_COPIES * group.bytes);
        read = { group, texts: await readResults(db, place, group.ids, contentLimit) };
        current.set(memory, read);
      }
      const text = read.texts.get(nodeId);
      if (text === undefined) throw new Error('a result expired while it was read');
      yield text;
      if (nodeId !== group.ids.at(-1)) return;
      memory.give(TEXT_COPIES * group.bytes);
      current.delete(memory);
    });
  };
}

/** A result that is larger than the limit of a group forms its own group. */
function groupNeighbours(nodes: readonly ApartNode[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  for (const { id, apartBytes } of nodes) {
    if (apartBytes === null || apartBytes === undefined) continue;
    if (last === undefined || last.bytes + apartBytes > TOGETHER_BYTES) last = { ids: [], bytes: 0 };
    last.ids.push(id);
    last.bytes += apartBytes;
    groups.set(id, last);
  }
  return groups;
}
