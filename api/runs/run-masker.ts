// The masker of a run, for what is stored sealed and shown masked.
import { openRunContents, readGraph } from '../../db/runs/run-contents.js';
import { findRunContext, findSnapshot, measureRunContext } from '../../db/runs/run-context-repository.js';
import type { Masker } from '../../graph/mask.js';
import type { AppDeps } from '../deps.js';

/** Bytes of memory per byte of JSON text: drawings are mostly small objects, which take more than their text. */
const WEIGHT = 8;

/** Undefined where the run is unknown. */
export async function readRunMasker(
  { db, secretBox, memory }: Pick<AppDeps, 'db' | 'secretBox' | 'memory'>,
  runId: string,
  signal: AbortSignal,
): Promise<Masker | undefined> {
  const lease = memory.lease(signal);
  try {
    const size = await measureRunContext(db, runId);
    if (size === undefined) return undefined;
    await lease.resize(WEIGHT * (size.inputBytes + size.documentBytes));
    const stored = await findRunContext(db, runId);
    if (stored === undefined) return undefined;
    const { fields } = readGraph(await findSnapshot(db, stored.snapshotHash));
    return openRunContents(stored, fields, secretBox).masker;
  } finally {
    lease.end();
  }
}
