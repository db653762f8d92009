import type { Db } from '../db/core/client.js';
import { listCopiesOfOtherKeys } from '../db/files/copies-repository.js';
import type { Files } from './files.js';

const AT_ONCE = 100;

/**
 * Rewrites every stored copy that is sealed with another key than `keyId`, and returns the number of rewritten copies.
 * Skips a copy that cannot be rewritten, for example because its bytes or its key are missing.
 */
export async function resealFiles(db: Db, files: Files, keyId: string): Promise<number> {
  let resealed = 0;
  let after: string | undefined;
  for (;;) {
    const copies = await listCopiesOfOtherKeys(db, keyId, after, AT_ONCE);
    for (const copy of copies) {
      after = copy.copyId;
      const isDone = await files.reseal(copy).then(
        () => true,
        () => false,
      );
      if (isDone) resealed += 1;
    }
    if (copies.length < AT_ONCE) break;
  }
  await files.removeAbandoned(resealed + 1);
  return resealed;
}
