// Finds the database and the secrets for an admin command: in the environment, else in the stack of DATA_DIR. What
// belongs to the stack is used for its own database alone.
import path from 'node:path';
import { parseEnvironment, type Environment } from '../../config/environment.js';
import type { ForeignTokenRules } from '../../config/sign-in-settings.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { readSecrets } from '../embedded/secrets-file.js';
import { readStackFile, type StackFile } from '../embedded/stack-file.js';

/**
 * Thrown for what the operator can mend, for example a wrong argument, a missing setting or an object that does not
 * exist. Only its message is printed.
 */
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
  // In another database, the secrets, the address and the user of the stack would be those of another service.
  const own = url === stack?.database_url ? stack : undefined;
  const generated = (name: 'SECRETS_KEY' | 'JWT_SECRET'): string | undefined =>
    own === undefined || own.configured_secrets?.includes(name) === true ? undefined : readSecrets(dataDir)?.[name];
  const db = createDatabase({ url, poolMax: 1, applicationName: 'admin', onError: () => undefined });
  try {
    return await action({
      db,
      secretsKeys() {
        if (environment.secretsKeys.length > 0) return environment.secretsKeys;
        const key = generated('SECRETS_KEY');
        if (key === undefined) throw mustBeSet('SECRETS_KEY', 'stored secrets are encrypted with it', own, dataDir);
        return [Buffer.from(key, 'base64')];
      },
      jwtSecret() {
        const secret = environment.jwtSecret ?? generated('JWT_SECRET');
        if (secret === undefined) throw mustBeSet('JWT_SECRET', 'it signs the token', own, dataDir);
        return secret;
      },
      fileStore: environment.fileStore,
      maxFileBytes: environment.maxFileBytes,
      foreignTokens: environment.signIn.foreignTokens,
      addressRules: {
        ...environment.addressRules,
        // cli/embedded/child-environment.ts has this default, too.
        ...(!env['ALLOW_PRIVATE_NETWORK'] && own !== undefined && { allowPrivateNetwork: true }),
      },
      publicUrl: env['PUBLIC_URL'] || own === undefined ? environment.publicUrl : own.api_url,
      localUserId: own?.user_id,
    });
  } finally {
    await db.destroy();
  }
}

function mustBeSet(variable: string, reason: string, own: StackFile | undefined, dataDir: string): AdminError {
  const lack = own === undefined ? 'no stack of this database runs' : 'it was set for the stack that runs';
  return new AdminError(`${variable}: must be set, for ${reason}, and ${lack} in ${dataDir}.`);
}
