// Finds the database and the secrets for an admin command: in the environment, else in the stack of DATA_DIR.
import path from 'node:path';
import { parseEnvironment, type Environment } from '../../config/environment.js';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { readSecrets } from '../embedded/secrets-file.js';
import { readStackFile } from '../embedded/stack-file.js';

/** Thrown for a wrong argument, or an object that does not exist. The message is shown as one sentence. */
export class AdminError extends Error {
  override name = 'AdminError';
}

export interface AdminContext {
  db: Database;
  secretsKeys: () => Buffer[];
  jwtSecret: () => string;
  foreignTokens: ForeignTokenRules;
  addressRules: Environment['addressRules'];
  fileStore: Environment['fileStore'];
  maxFileBytes: number;
  /** The public address of the API. */
  publicUrl: string;
  /** The user of the running stack; undefined if no stack runs on this database. */
  localUserId: number | undefined;
}

/** Runs `action` with an open database. Throws AdminError if no database is configured and no stack runs. */
export async function withContext<T>(
  env: NodeJS.ProcessEnv,
  action: (context: AdminContext) => Promise<T>,
): Promise<T> {
  const environment = parseEnvironment(env);
  const dataDir = path.resolve(environment.dataDir);
  const stack = readStackFile(dataDir);
  const url = environment.databaseUrl ?? stack?.database_url;
  if (url === undefined) {
    throw new AdminError(`There is no database: set DATABASE_URL, or start the stack (no stack runs in ${dataDir}).`);
  }
  const db = createDatabase({ url, poolMax: 1, applicationName: 'admin', onError: () => undefined });
  try {
    return await action({
      db,
      secretsKeys() {
        if (environment.secretsKeys.length > 0) return environment.secretsKeys;
        const { SECRETS_KEY: generated } = readSecrets(dataDir) ?? {};
        if (generated === undefined)
          throw new AdminError('SECRETS_KEY: must be set, for stored secrets are encrypted with it.');
        return [Buffer.from(generated, 'base64')];
      },
      jwtSecret() {
        const secret = environment.jwtSecret ?? readSecrets(dataDir)?.JWT_SECRET;
        if (secret === undefined) throw new AdminError('JWT_SECRET: must be set, for it signs the token.');
        return secret;
      },
      fileStore: environment.fileStore,
      maxFileBytes: environment.maxFileBytes,
      foreignTokens: environment.signIn.foreignTokens,
      addressRules: {
        ...environment.addressRules,
        // cli/embedded/child-environment.ts has this default, too.
        ...(!env['ALLOW_PRIVATE_NETWORK'] && url === stack?.database_url && { allowPrivateNetwork: true }),
      },
      publicUrl: env['PUBLIC_URL'] || stack === undefined ? environment.publicUrl : stack.api_url,
      // In another database, this id would belong to another user.
      localUserId: url === stack?.database_url ? stack.user_id : undefined,
    });
  } finally {
    await db.destroy();
  }
}
