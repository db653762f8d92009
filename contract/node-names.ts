// Unique names of nodes: ids of activities, places of wakes, keys in memory. Users choose the ids of nodes, so
// `encodeId` escapes the characters that join ids. Two nodes therefore never share a name.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { encodeId } from '../graph/iteration-path.js';
import type { NodeKey } from '../graph/plan.js';

type Place = Pick<NodeKey, 'path' | 'nodeId'>;

/** Names a node within its run, including its iterations. */
export function nodePlace({ path, nodeId }: Place): string {
  return path === '' ? encodeId(nodeId) : `${path}/${encodeId(nodeId)}`;
}

/** Names a node of a run within a process. */
export function nodeOfRun({ runId, ...place }: NodeKey): string {
  return `${runId}/${nodePlace(place)}`;
}

const MAX_NAME_BYTES = 200;

/** The activity id of a node; `step` distinguishes the activities of a node with several. */
export function activityIdOf(place: Place, step?: string): string {
  const name = shortened(nodePlace(place));
  return step === undefined ? name : `${name}~${step}`;
}

/**
 * Limits a name to about 200 bytes. A longer one is cut and ends in `~~` and a hash; no other name contains `~~`.
 * SHA-256 has no known collisions, so users cannot construct two names that are shortened to the same one. Workflow
 * code cannot use the hashes of Node.js.
 */
function shortened(name: string): string {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length <= MAX_NAME_BYTES) return name;
  let end = MAX_NAME_BYTES;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}~~${bytesToHex(sha256(bytes)).slice(0, 32)}`;
}
