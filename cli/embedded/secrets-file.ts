// The secrets that the embedded stack generates once, in DATA_DIR/secrets.json (mode 0600).
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GENERATED_PREFIX } from '../../config/environment.js';
import { writeFileAtomic } from './atomic-file.js';
import { StartError } from './start-error.js';

export interface StackSecrets {
  INTERNAL_SERVICE_TOKEN: string;
  JWT_SECRET: string;
  /** 32 bytes, base64. */
  SECRETS_KEY: string;
  postgres_password: string;
  /** The local user's key; absent until the user exists. */
  api_key?: string;
  /** The local user, by whom a start finds that user if the key was deleted. */
  local_user?: KnownUser;
}

export interface KnownUser {
  id: number;
  created_at: string;
}

function secretsFile(dataDir: string): string {
  return path.join(dataDir, 'secrets.json');
}

/**
 * Returns undefined if there is no file. Throws StartError if it is unreadable, because new secrets would make
 * encrypted data unreadable.
 */
export function readSecrets(dataDir: string): StackSecrets | undefined {
  const file = secretsFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackSecrets;
  } catch {
    throw new StartError(`${file} cannot be read: restore it, or remove the whole directory to start anew.`);
  }
}

/**
 * Returns the stored secrets, or generates and stores them. Generated tokens and keys have a prefix, so that production
 * can refuse them.
 */
export function readOrCreateSecrets(dataDir: string): StackSecrets {
  const existing = readSecrets(dataDir);
  if (existing !== undefined) return existing;
  const prefix = Buffer.from(GENERATED_PREFIX, 'latin1');
  const created: StackSecrets = {
    INTERNAL_SERVICE_TOKEN: generateToken(),
    JWT_SECRET: generateToken(),
    SECRETS_KEY: Buffer.concat([prefix, randomBytes(32 - prefix.length)]).toString('base64'),
    postgres_password: randomBytes(24).toString('base64url'),
  };
  writeSecrets(dataDir, created);
  return created;
}

function generateToken(): string {
  return `${GENERATED_PREFIX}${randomBytes(32).toString('base64url')}`;
}

export function writeSecrets(dataDir: string, secrets: StackSecrets): void {
  writeFileAtomic(secretsFile(dataDir), `${JSON.stringify(secrets, null, 2)}\n`);
}
