// Claims of nodes and ends of nodes and iterations that happen at the same time in one worker share a statement,
// because each statement and each commit costs more than the rows that it writes
// (docs/adr/0032-nodes-written-together.md).
import type { Database } from '../../db/core/client.js';
import { together } from '../../db/core/together.js';
import { recordIteration, type EndedIteration } from '../../db/nodes/iterations-repository.js';
import {
  claimNodes,
  isGroupable,
  isGroupableIteration,
  recordIterations,
  recordNodeEnds,
} from '../../db/nodes/node-groups-repository.js';
import {
  recordNodeEnd,
  type ClaimedWork,
  type NodeClaim,
  type NodeEndRow,
} from '../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../graph/plan.js';

/** A larger group would delay its first row by more than a statement of its own takes. */
const MOST_TOGETHER = 20;

export interface SharedWrites {
  /** Works like `claimNode`, in a statement with other claims. */
  claim: (key: NodeKey, work: ClaimedWork) => Promise<NodeClaim | undefined>;
  /** Works like `recordNodeEnd`. Ends that `isGroupable` accepts share a statement. */
  recordEnd: (end: NodeEndRow) => Promise<boolean>;
  /** Works like `recordIteration`. Ends that `isGroupableIteration` accepts share a statement. */
  recordIteration: (end: EndedIteration) => Promise<string | undefined>;
}

export function createSharedWrites(db: Database): SharedWrites {
  const options = { most: MOST_TOGETHER, isolates: true };
  const claim = together(claimNodes.bind(undefined, db), options);
  const recordEnd = together(recordNodeEnds.bind(undefined, db), options);
  const endIteration = together(recordIterations.bind(undefined, db), options);
  return {
    claim: (key, work) => claim({ key, work }),
    recordEnd: (end) => (isGroupable(end) ? recordEnd(end) : recordNodeEnd(db, end)),
    recordIteration: (end) => (isGroupableIteration(end) ? endIteration(end) : recordIteration(db, end)),
  };
}
