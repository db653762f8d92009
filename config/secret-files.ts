// Secrets from files, as Docker, Kubernetes and systemd provide them: NAME_FILE names the file with the value of NAME
// (docs/operate/operations.md, "Environment").
import { readFileSync } from 'node:fs';
import { ConfigError } from './variable-types.js';

const SECRETS = [
  'CODEC_SERVER_TOKEN',
  'DATABASE_PASSWORD',
  'DATABASE_URL',
  'INTERNAL_SERVICE_TOKEN',
  'JWT_SECRET',
  'OIDC_CLIENT_SECRET',
  'OPENAI_API_KEY',
  'SECRETS_KEY',
  'TEMPORAL_PAYLOAD_KEY',
];

export const SECRET_FILE_VARIABLES: readonly string[] = SECRETS.map(toFileVariable);

/** Returns the environment with the contents of the files instead of their names. Throws `ConfigError`. */
export function withSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...env };
  for (const name of SECRETS) {
    if (env[toFileVariable(name)]) read[name] = secretOf(env, name);
    delete read[toFileVariable(name)];
  }
  return read;
}

/** The process would store in clear what this variable encrypts, so an empty file does not count as unset. */
const NEVER_EMPTY = 'TEMPORAL_PAYLOAD_KEY';

/**
 * Returns the value of NAME, or the trimmed contents of the file that NAME_FILE names. Throws
 * `ConfigError`, which never quotes a value.
 */
export function secretOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const variable = toFileVariable(name);
  const file = env[variable];
  if (!file) return env[name];
  if (env[name]) throw new ConfigError(`${variable}: must not be set together with ${name}.`);
  const value = readSecret(variable, file);
  if (value === '' && name === NEVER_EMPTY) throw new ConfigError(`${variable}: the file ${file} is empty.`);
  return value;
}

function readSecret(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${variable}: the file ${file} cannot be read (${code}).`);
  }
}

function toFileVariable(name: string): string {
  return `${name}_FILE`;
}
