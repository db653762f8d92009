// Builds the masker of a run, for values that are stored sealed and shown masked.
import { openRunContents, readSecrets } from '../../db/runs/run-contents.js';
import { findRunContext, findSnapshot, measureRunContext } from '../../db/runs/run-context-repository.js';
import type { Masker } from '../../graph/mask.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { RunDeps } from './deps.js';

/** Bytes of memory per byte of JSON text: drawings are mostly small objects, which take more than their text. */
const WEIGHT = 8;

/**
 * Returns undefined if the run is unknown. `memory`: the lease of the request, which gets its old size back at the end.
 */
export async function readRunMasker(
  { db, secretBox }: Pick<RunDeps, 'db' | 'secretBox'>,
  runId: string,
  memory: ByteLease,
): Promise<Masker | undefined> {
  const before = memory.bytes;
  try {
    const size = await measureRunContext(db, runId);
    if (size === undefined) return undefined;
    await memory.resize(before + WEIGHT * (size.inputBytes + size.documentBytes));
    const stored = await findRunContext(db, runId);
    if (stored === undefined) return undefined;
    const { document } = await findSnapshot(db, stored.snapshotHash);
    return openRunContents(stored, readSecrets(document), secretBox).masker;
  } finally {
    void memory.resize(before);
  }
}
