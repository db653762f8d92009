import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadWorkerConfig } from '../../activities/worker/config.js';
import { loadCurrencies } from '../../config/currencies.js';
import { parseEnvironment, VARIABLES, type Environment } from '../../config/environment.js';
import { loadModelProviders, type ResolvedModel } from '../../config/model-providers.js';
import { loadTemporalConnection } from '../../config/temporal-connection.js';

interface DocumentedDefault {
  name: string;
  /** The default in the page, without its backticks. */
  text: string;
  meaning: string;
}

const page = readFileSync(new URL('../../docs/operate/operations.md', import.meta.url), 'utf8');

/** Splits at commas outside of backticks. */
function parts(cell: string): string[] {
  return cell.split(/,(?=(?:[^`]*`[^`]*`)*[^`]*$)/).map((part) => part.trim());
}

function documentedDefaults(): DocumentedDefault[] {
  const [, section = ''] = page.split('\n## Environment\n');
  const rows = section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => {
    const [, names = '', text = '', meaning = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const variables = parts(names).map((name) => name.replaceAll('`', ''));
    const texts = variables.length > 1 ? parts(text) : [text];
    return variables.map((name, index) => ({ name, text: (texts[index] ?? '').replaceAll('`', ''), meaning }));
  });
}

/** Returns the value of a variable: `TEMPORAL_UI_URL` is `temporalUiUrl`. */
function valueOf(environment: Environment, variable: string): unknown {
  const name = variable.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return (environment as unknown as Record<string, unknown>)[name];
}

/** Values with which every variable has an effect. */
const BASE = {
  OIDC_ISSUER: 'https://issuer.example',
  OIDC_CLIENT_ID: 'client',
  OIDC_CLIENT_SECRET: 'secret',
  FILES_S3_BUCKET: 'bucket',
};

const none = parseEnvironment({});
const WORKER = {
  DATABASE_URL: 'postgres://a@b/c',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  INTERNAL_SERVICE_TOKEN: 'a token of the workers',
};
const workerOf = (env: NodeJS.ProcessEnv) => loadWorkerConfig({ ...WORKER, ...env });

/**
 * Defaults that the page describes in words, each with a check of the code. `npm start` makes those that the page calls
 * embedded or generated.
 */
const SAID: Record<string, [text: string, check: () => void]> = {
  DATABASE_URL: ['embedded', () => assert.equal(none.databaseUrl, undefined)],
  TEMPORAL_ADDRESS: ['embedded', () => assert.ok(loadTemporalConnection({}).connectionOptions.address)],
  TEMPORAL_NAMESPACE: ['default', () => assert.equal(loadTemporalConnection({}).namespace, 'default')],
  INTERNAL_SERVICE_TOKEN: ['generated', () => assert.equal(none.internalServiceToken, undefined)],
  JWT_SECRET: ['generated', () => assert.equal(none.jwtSecret, undefined)],
  JWT_JWKS_URL: ['', () => assert.equal(none.jwtJwksUrl, undefined)],
  SECRETS_KEY: ['generated', () => assert.deepEqual(none.secretsKeys, [])],
  PUBLIC_URL: [
    "the API's own address: HOST and PORT",
    () => assert.equal(parseEnvironment({ PORT: '81' }).publicUrl, 'http://127.0.0.1:81'),
  ],
  INTERNAL_API_URL: [
    'PUBLIC_URL',
    () => assert.equal(parseEnvironment({ PUBLIC_URL: 'https://w.example/' }).internalApiUrl, 'https://w.example'),
  ],
  JWT_USER_CLAIM: [
    "user_id, else sub: the user's id",
    () => assert.equal(none.signIn.foreignTokens.userClaim, undefined),
  ],
  OIDC_NAME: ["the issuer's host", () => assert.equal(parseEnvironment(BASE).signIn.oidc?.name, 'issuer.example')],
  CURRENCIES_FILE: ['USD, sample EUR', () => assert.deepEqual([...loadCurrencies(none).keys()], ['USD', 'EUR'])],
  FILES_DIR: [
    'DATA_DIR/files',
    () => assert.deepEqual(none.fileStore, { folder: path.resolve(none.dataDir, 'files') }),
  ],
  FILES_S3_ENDPOINT: [
    'AWS',
    () => assert.equal((parseEnvironment(BASE).fileStore as { endpoint?: string }).endpoint, undefined),
  ],
  FILES_S3_REGION: [
    'us-east-1',
    () => assert.equal((parseEnvironment(BASE).fileStore as { region?: string }).region, 'us-east-1'),
  ],
  ALLOW_PRIVATE_NETWORK: [
    'false (embedded stack: true)',
    () => assert.equal(none.addressRules.allowPrivateNetwork, false),
  ],
  OTEL_EXPORTER_OTLP_PROTOCOL: [
    'http/protobuf',
    () => assert.throws(() => parseEnvironment({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), /OTEL_EXPORTER_OTLP_PROTOCOL/),
  ],
  WORKER_DEPLOYMENT_NAME: [
    'runs',
    () => assert.equal(workerOf({ WORKER_VERSIONING: 'true' }).version?.deploymentName, 'runs'),
  ],
  WORKER_BUILD_ID: [
    'version and hash of the workflow bundle',
    () => assert.equal(workerOf({ WORKER_VERSIONING: 'true' }).version?.buildId, undefined),
  ],
  WORKER_CACHED_WORKFLOWS: [
    'the larger of 200 and twice WORKER_ACTIVITY_SLOTS',
    () => {
      assert.equal(workerOf({}).cachedWorkflows, 200);
      assert.equal(workerOf({ WORKER_ACTIVITY_SLOTS: '150' }).cachedWorkflows, 300);
    },
  ],
  WORKER_PROJECT_SLOTS: [
    '80 % of WORKER_ACTIVITY_SLOTS',
    () => assert.equal(parseEnvironment({ WORKER_ACTIVITY_SLOTS: '50' }).workerProjectSlots, 40),
  ],
};

describe('the defaults of operations.md', () => {
  const documented = documentedDefaults();
  const textOf = (name: string): string => {
    const found = documented.find((one) => one.name === name);
    assert.ok(found, `${name} has no row`);
    return found.text;
  };

  it('are there for every variable', () => {
    const names = new Set(documented.map(({ name }) => name));
    const OTHER = ['NODE_ENV'];
    const missing = VARIABLES.filter((name) => !names.has(name) && !OTHER.includes(name));
    assert.deepEqual(missing, []);
  });

  for (const [name, [text, check]] of Object.entries(SAID)) {
    it(`are what the code does without ${name}`, () => {
      assert.equal(textOf(name), text);
      check();
    });
  }

  for (const { name, text } of documented.filter(({ name: each }) => VARIABLES.includes(each) && !(each in SAID))) {
    if (text === '') {
      it(`are none for ${name}`, () => {
        const value = valueOf(none, name);
        assert.ok(
          value === undefined || value === false || (Array.isArray(value) && value.length === 0),
          String(value),
        );
      });
    } else {
      it(`are the value that ${name} has without being set`, () => {
        assert.deepEqual(parseEnvironment({ ...BASE, [name]: text }), parseEnvironment(BASE));
      });
    }
  }

  describe('for a model', () => {
    let folder: string;
    before(() => (folder = mkdtempSync(path.join(tmpdir(), 'models-'))));
    after(() => rmSync(folder, { recursive: true, force: true }));

    function modelOf(fields: object, base_url = 'https://a.example/v1'): ResolvedModel {
      const file = path.join(folder, 'providers.json');
      const providers = [{ name: 'a', base_url, models: [{ id: 'm', ...fields }] }];
      writeFileSync(file, JSON.stringify({ providers }));
      const env = { MODEL_PROVIDERS_FILE: file };
      return loadModelProviders(parseEnvironment(env), env).models.get('m')!;
    }

    it('are those that the page says', () => {
      const { meaning } = documented.find(({ name }) => name === 'MODEL_PROVIDERS_FILE')!;
      const said = [...meaning.matchAll(/`(\w+)` \(default `([^`]+)`\)/g)].map(([, field, json]) => [
        field,
        JSON.parse(json!),
      ]);
      const { accepts, stream, inputPricePerMillion, outputPricePerMillion } = modelOf({});
      const expected = {
        input_price_per_million: inputPricePerMillion,
        output_price_per_million: outputPricePerMillion,
        accepts,
        stream,
      };
      assert.deepEqual(Object.fromEntries(said), expected);
      assert.deepEqual([accepts, stream], [['image'], true]);
    });

    it('are replaced by what a model declares, and an unknown kind of file is an error', () => {
      const { accepts, stream } = modelOf({ accepts: ['audio', 'pdf'], stream: false });
      assert.deepEqual([accepts, stream, modelOf({ accepts: [] }).accepts], [['audio', 'pdf'], false, []]);
      assert.throws(() => modelOf({ accepts: ['video'] }), /^ConfigError: MODEL_PROVIDERS_FILE: .*accepts/);
    });

    it('have no credentials in their base_url, to which no request could be made', () => {
      for (const base_url of [
        'https://user:pass@a.example/v1',
        'https://user@a.example/v1/',
        'http://:pass@a.example/v1',
      ]) {
        assert.throws(
          () => modelOf({}, base_url),
          (error: Error) => {
            assert.match(error.message, /^MODEL_PROVIDERS_FILE: .*base_url must hold no credentials/);
            assert.doesNotMatch(error.message, /pass/);
            return true;
          },
        );
      }
    });
  });
});
