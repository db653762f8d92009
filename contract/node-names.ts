// The names of nodes in texts that join ids: ids of activities, places of wakes, keys in memory. People choose the ids, so
// the signs that join them are encoded in them (`encodeId`): two nodes never share a name.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { encodeId } from '../graph/iteration-path.js';
import type { NodeKey } from '../graph/plan.js';

type Place = Pick<NodeKey, 'path' | 'nodeId'>;

/** Names a node in an iteration by one text. */
export function nodePlace({ path, nodeId }: Place): string {
  return path === '' ? encodeId(nodeId) : `${path}/${encodeId(nodeId)}`;
}

/** Names a node of a run in the memory of a process. */
export function nodeOfRun({ runId, ...place }: NodeKey): string {
  return `${runId}/${nodePlace(place)}`;
}

const MAX_NAME_BYTES = 200;

/** The id of the activity of a node; `step` tells those of a node with several apart. */
export function activityIdOf(place: Place, step?: string): string {
  const name = shortened(nodePlace(place));
  return step === undefined ? name : `${name}~${step}`;
}

/**
 * A name that is too long ends in its hash, after two signs that follow each other in no other name. Nobody can choose two
 * texts with the same SHA-256. Workflow code has no hash of Node.js.
 */
function shortened(name: string): string {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length <= MAX_NAME_BYTES) return name;
  let end = MAX_NAME_BYTES;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}~~${bytesToHex(sha256(bytes)).slice(0, 32)}`;
}
