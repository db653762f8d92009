import type { Environment } from '../config/environment.js';
import type { Database } from '../db/core/client.js';
import { createFiles, type Files } from './files.js';
import { createFolderStore } from './folder-store.js';
import { createS3Store } from './s3-store.js';
import { createFileSealer } from './sealed-copy.js';
import { tellingFailures } from './store-failures.js';

/**
 * Opens the files of this installation, in the store that the environment configures.
 * `secretsKeys` are the keys of SECRETS_KEY.
 */
export function openFiles(
  db: Database,
  secretsKeys: readonly Buffer[],
  { fileStore, maxFileBytes }: Pick<Environment, 'fileStore' | 'maxFileBytes'>,
): Files {
  const store = 'folder' in fileStore ? createFolderStore(fileStore.folder) : createS3Store(fileStore);
  return createFiles({
    db,
    store: tellingFailures(store),
    sealer: createFileSealer(secretsKeys),
    maxBytes: maxFileBytes,
  });
}
