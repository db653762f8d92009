import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toHostUrls } from '../../config/host-urls.js';
import { parseEnvironment } from '../../config/environment.js';
import { loadModelProviders } from '../../config/model-providers.js';
import { withSecretFiles } from '../../config/secret-files.js';

const URL_WITHOUT = 'postgres://service@db:5432/service?sslmode=disable';

describe('secrets in files', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'secret-files-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(name: string, content: string): string {
    const full = path.join(folder, name);
    writeFileSync(full, content);
    return full;
  }

  it('are read without the white space around them, and count as the variable itself', () => {
    const JWT_SECRET_FILE = file('jwt', `  ${'s'.repeat(32)} \n`);
    assert.equal(parseEnvironment({ JWT_SECRET_FILE }).jwtSecret, 's'.repeat(32));
    const DATABASE_URL_FILE = file('url', `${URL_WITHOUT}\n`);
    assert.equal(parseEnvironment({ DATABASE_URL_FILE }).databaseUrl, URL_WITHOUT);
    assert.equal(parseEnvironment({ JWT_SECRET_FILE: file('empty', '\n') }).jwtSecret, undefined);
    assert.equal(parseEnvironment({ JWT_SECRET_FILE: '' }).jwtSecret, undefined);
  });

  it('take the place of their names, so that a child process gets each secret once', () => {
    const given = { SECRETS_KEY_FILE: file('key', 'k'), PATH: '/bin' };
    assert.deepEqual(withSecretFiles(given), { SECRETS_KEY: 'k', PATH: '/bin' });
  });

  it('are refused where the file of the payload key is empty, because payloads would be stored in clear', () => {
    const TEMPORAL_PAYLOAD_KEY_FILE = file('no-payload-key', ' \n');
    assert.throws(() => parseEnvironment({ TEMPORAL_PAYLOAD_KEY_FILE }), {
      name: 'ConfigError',
      message: `TEMPORAL_PAYLOAD_KEY_FILE: the file ${TEMPORAL_PAYLOAD_KEY_FILE} is empty.`,
    });
    assert.deepEqual(parseEnvironment({ TEMPORAL_PAYLOAD_KEY_FILE: '' }).temporalPayloadKeys, []);
  });

  it('hold the password of the database, whatever characters it has', () => {
    const password = 'p/w%41@:?# ü';
    const DATABASE_PASSWORD_FILE = file('password', password);
    const url = new URL(parseEnvironment({ DATABASE_URL: URL_WITHOUT, DATABASE_PASSWORD_FILE }).databaseUrl!);
    assert.equal(decodeURIComponent(url.password), password);
    assert.equal(url.host + url.pathname + url.search, 'db:5432/service?sslmode=disable');
    const DATABASE_URL = 'postgres://service:other@db/service';
    assert.throws(
      () => parseEnvironment({ DATABASE_URL, DATABASE_PASSWORD_FILE }),
      /^ConfigError: DATABASE_PASSWORD: must not be set, because DATABASE_URL has a password\.$/,
    );
  });

  it('hold the password of a database on several hosts', () => {
    const password = 'p@w,1';
    const DATABASE_PASSWORD_FILE = file('password-of-hosts', password);
    const given = 'postgres://service@a:5432,b,[::1]:5433/service?target_session_attrs=read-write';
    const { databaseUrl } = parseEnvironment({ DATABASE_URL: given, DATABASE_PASSWORD_FILE });
    assert.equal(databaseUrl, given.replace('@', ':p%40w%2C1@'));
    const hosts = toHostUrls(databaseUrl).map((one) => new URL(one));
    assert.deepEqual(
      hosts.map(({ host }) => host),
      ['a:5432', 'b', '[::1]:5433'],
    );
    for (const host of hosts) assert.equal(decodeURIComponent(host.password), password);
    const DATABASE_URL = 'postgres://service:other@a,b/service';
    assert.throws(() => parseEnvironment({ DATABASE_URL, DATABASE_PASSWORD_FILE }), /DATABASE_URL has a password\.$/);
  });

  it('hold the keys of model providers', () => {
    const providers = [{ name: 'a', base_url: 'https://a.example/v1', api_key_env: 'A_KEY', models: [] }];
    const MODEL_PROVIDERS_FILE = file('providers.json', JSON.stringify({ providers }));
    const env = { MODEL_PROVIDERS_FILE };
    loadModelProviders(parseEnvironment(env), { ...env, A_KEY_FILE: file('a', 'key') });
    assert.throws(() => loadModelProviders(parseEnvironment(env), env), /needs the variable A_KEY/);
  });

  it('are refused beside the variable itself, and where there is no such file, without a value in the sentence', () => {
    const SECRETS_KEY_FILE = file('both', 'hidden-in-file');
    const refusal = (env: NodeJS.ProcessEnv): string => {
      try {
        parseEnvironment(env);
        return 'accepted';
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.equal(
      refusal({ SECRETS_KEY_FILE, SECRETS_KEY: 'hidden' }),
      'SECRETS_KEY_FILE: must not be set together with SECRETS_KEY.',
    );
    assert.equal(refusal({ SECRETS_KEY_FILE }), 'SECRETS_KEY: each key must be 32 bytes in base64.');
    const missing = path.join(folder, 'missing');
    assert.equal(
      refusal({ SECRETS_KEY_FILE: missing }),
      `SECRETS_KEY_FILE: the file ${missing} cannot be read (ENOENT).`,
    );
    assert.match(refusal({ SECRETS_KEY_FILE: folder }), /cannot be read \(EISDIR\)\.$/);
  });
});
