import assert from 'node:assert/strict';
import { loadWorkerConfig } from '../../../activities/worker/config.js';
import { ConfigError } from '../../../config/environment.js';

const NEEDED = { DATABASE_URL: 'postgres://127.0.0.1/x', SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
const versionOf = (env: NodeJS.ProcessEnv) => loadWorkerConfig({ ...NEEDED, ...env }).version;

describe('the version of a worker', () => {
  it('is taken with WORKER_VERSIONING alone', () => {
    assert.equal(versionOf({}), undefined);
    assert.equal(versionOf({ WORKER_VERSIONING: 'false', WORKER_BUILD_ID: '' }), undefined);
    assert.deepEqual(versionOf({ WORKER_VERSIONING: 'true' }), { deploymentName: 'runs', buildId: undefined });
    const named = { WORKER_VERSIONING: 'true', WORKER_DEPLOYMENT_NAME: 'other', WORKER_BUILD_ID: '7f3a' };
    assert.deepEqual(versionOf(named), { deploymentName: 'other', buildId: '7f3a' });
  });

  it('is refused without it, in a sentence that names the variable', () => {
    for (const env of [{ WORKER_DEPLOYMENT_NAME: 'runs' }, { WORKER_BUILD_ID: '7f3a', WORKER_VERSIONING: 'false' }]) {
      assert.throws(
        () => versionOf(env),
        (error) => error instanceof ConfigError && error.message.startsWith(`${Object.keys(env)[0]}: must not be set`),
      );
    }
  });
});
