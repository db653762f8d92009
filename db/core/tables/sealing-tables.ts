// How far the API is with sealing credential headers of drawings that earlier builds have stored.

export type SealingSubject = 'workflows' | 'workflow_versions' | 'graph_snapshots';

/** Writer: the API (`api/background/seal-headers.ts`). One row for each table, in the order in which they are sealed. */
export interface HeaderSealingTable {
  subject: SealingSubject;
  ordinal: number;
  /** The primary key of the last row that was looked at, as a JSON list; null at the beginning. */
  after: string | null;
  done_at: Date | null;
}

/** Writer: as above. Graphs with credentials that runs still refer to. */
export interface UnsealedGraphsTable {
  hash: Buffer;
}
