// Sample secrets, in files like those in the folder `secrets` of docker-compose.yml.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** File name -> contents. */
export const SAMPLE_SECRETS: Record<string, string> = {
  postgres_password: 'sample0administrator',
  database_owner_password: 'sample/owner%@:',
  database_password: 'sample0service',
  temporal_database_password: 'sample0temporal',
  internal_service_token: 'sample0internal0service0token',
  secrets_key: Buffer.alloc(32, 9).toString('base64'),
  jwt_secret: 'sample0session0token0secret0of0length',
};

/** The folder in which a container finds its secrets. */
const MOUNTED = '/run/secrets/';

/** Returns a new folder with the files, each with the line end that `openssl` writes. */
export function writeSecrets(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
  chmodSync(folder, 0o755);
  for (const [name, value] of Object.entries(SAMPLE_SECRETS)) writeFileSync(path.join(folder, name), `${value}\n`);
  return folder;
}

/** Returns a container's environment for a process of this machine: paths of secrets lead to the files in `folder`. */
export function withSecretsIn(folder: string, environment: Record<string, string>): Record<string, string> {
  const moved = Object.entries(environment).map(([name, value]) => [
    name,
    value.startsWith(MOUNTED) ? path.join(folder, value.slice(MOUNTED.length)) : value,
  ]);
  return Object.fromEntries(moved) as Record<string, string>;
}
