// Builds the masker of a run, for values that are stored sealed and shown masked.
import { openRunContents, readSecrets } from '../../db/runs/run-contents.js';
import { findRunContext, findSnapshot, measureRunContext } from '../../db/runs/run-context-repository.js';
import type { Masker } from '../../graph/mask.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { Asker } from '../http/heavy-work.js';
import type { RunDeps } from './deps.js';

/** Bytes of memory per byte of JSON text: drawings are mostly small objects, which take more than their text. */
const WEIGHT = 8;

/**
 * Returns undefined if the run is unknown. A large drawing is read in a turn of the queue (api/http/heavy-work.ts).
 * `memory`: the lease of the request. It grows for the read and has its old size again when this function ends.
 */
export async function readRunMasker(
  { db, secretBox, heavyWork }: Pick<RunDeps, 'db' | 'secretBox' | 'heavyWork'>,
  runId: string,
  { memory, ...asker }: Asker & { memory: ByteLease },
): Promise<Masker | undefined> {
  const before = memory.bytes;
  try {
    const size = await measureRunContext(db, runId);
    if (size === undefined) return undefined;
    const readBytes = size.inputBytes + size.documentBytes;
    await memory.resize(before + WEIGHT * readBytes);
    return await heavyWork.run(asker, readBytes, async () => {
      const stored = await findRunContext(db, runId);
      if (stored === undefined) return undefined;
      const { document } = await findSnapshot(db, stored.snapshotHash);
      return openRunContents(stored, readSecrets(document), secretBox).masker;
    });
  } finally {
    void memory.resize(before);
  }
}
