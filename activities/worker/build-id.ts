import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../config/environment.js';

/**
 * Returns the id of the build that has this workflow bundle, such as `0.3.0-4f1c9a22b0d7`: the version, and a hash of
 * the bundle, so that builds with different run workflows have different ids. Throws `ConfigError` if the bundle does
 * not exist, because the workflow code is then bundled anew at each start.
 */
export function buildIdOf(bundle: string): string {
  if (!existsSync(bundle)) throw new ConfigError('WORKER_BUILD_ID: must be set where npm run build has not run.');
  const hash = createHash('sha256').update(readFileSync(bundle)).digest('hex').slice(0, 12);
  const description = path.join(path.dirname(bundle), '../package.json');
  const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string };
  return `${version}-${hash}`;
}
