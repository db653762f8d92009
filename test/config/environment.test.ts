import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ConfigError, GENERATED_PREFIX, parseEnvironment, VARIABLES } from '../../config/environment.js';

const KEY = Buffer.alloc(32, 7).toString('base64');

describe('environment', () => {
  it('has the defaults of operations.md', () => {
    const environment = parseEnvironment({});
    assert.equal(environment.port, 3000);
    assert.equal(environment.host, '127.0.0.1');
    assert.equal(environment.temporalTaskQueue, 'workflow-runs');
    assert.equal(environment.defaultRateLimit, 60);
    assert.equal(environment.resultRetentionDays, 30);
    assert.equal(environment.addressRules.allowPrivateNetwork, false);
    assert.equal(environment.workerMetricsPort, 9464);
    const manual = readFileSync(new URL('../../docs/operate/operations.md', import.meta.url), 'utf8');
    const rows = [
      '`PORT`, `HOST` | 3000, 127.0.0.1',
      '`DEFAULT_RATE_LIMIT` | 60',
      '`RESULT_RETENTION_DAYS` | 30',
      '`WORKER_METRICS_PORT` | 9464',
    ];
    for (const row of rows) assert.ok(manual.includes(`\n| ${row} |`), row);
    assert.match(manual, /`TEMPORAL_TASK_QUEUE`[^|]* \| embedded, `default`, `workflow-runs` \|/);
    assert.match(manual, /\n\| `ALLOW_PRIVATE_NETWORK` \| false /);
  });

  it('has every variable in the operations manual', () => {
    const manual = readFileSync(new URL('../../docs/operate/operations.md', import.meta.url), 'utf8');
    for (const name of VARIABLES) assert.match(manual, new RegExp(`\\b${name}\\b`), `${name} is not described`);
  });

  it('asks for traces by OpenTelemetry’s own variables, and only then', () => {
    const [endpoint, more] = [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
      { OTEL_TRACES_EXPORTER: 'none' },
    ];
    assert.equal(parseEnvironment({}).isTracing, false);
    assert.equal(parseEnvironment(endpoint).isTracing, true);
    assert.equal(parseEnvironment({ OTEL_TRACES_EXPORTER: 'otlp' }).isTracing, true);
    assert.equal(
      parseEnvironment({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces' }).isTracing,
      true,
    );
    assert.equal(parseEnvironment({ ...endpoint, ...more }).isTracing, false);
    assert.equal(parseEnvironment({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).isTracing, false);
  });

  it('leaves a project four slots of five while nothing else is said, and never none', () => {
    const slotsOf = (env: NodeJS.ProcessEnv) => parseEnvironment(env).workerProjectSlots;
    assert.equal(slotsOf({}), 80);
    assert.deepEqual(
      [1, 2, 4, 5].map((slots) => slotsOf({ WORKER_ACTIVITY_SLOTS: String(slots) })),
      [1, 2, 4, 4],
    );
    assert.equal(slotsOf({ WORKER_PROJECT_SLOTS: '100' }), 100);
    assert.throws(
      () => slotsOf({ WORKER_PROJECT_SLOTS: '101' }),
      /^ConfigError: WORKER_PROJECT_SLOTS: must not be above/,
    );
  });

  it('takes the API`s own address for the public one until PUBLIC_URL says another', () => {
    const publicUrlOf = (env: NodeJS.ProcessEnv): string => parseEnvironment(env).publicUrl;
    assert.equal(publicUrlOf({}), 'http://127.0.0.1:3000');
    assert.equal(publicUrlOf({ PORT: '8080', HOST: '0.0.0.0' }), 'http://127.0.0.1:8080');
    assert.equal(publicUrlOf({ PORT: '8080', HOST: '::1' }), 'http://[::1]:8080');
    assert.equal(publicUrlOf({ PUBLIC_URL: 'https://w.example/' }), 'https://w.example');
  });

  it('takes origins as browsers send them, each once', () => {
    const originsOf = (CORS_ORIGINS: string): string[] => parseEnvironment({ CORS_ORIGINS }).corsOrigins;
    assert.deepEqual(parseEnvironment({}).corsOrigins, []);
    assert.deepEqual(originsOf(' http://localhost:5173, https://a.example.com ,http://localhost:5173,'), [
      'http://localhost:5173',
      'https://a.example.com',
    ]);
  });

  it('counts an empty variable as unset', () => {
    assert.equal(parseEnvironment({ PORT: '' }).port, 3000);
  });

  const wrong: [string, string][] = [
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['PORT', '-1'],
    ['DATABASE_URL', 'mysql://x/y'],
    ['DATABASE_URL', 'postgres://a,/y'],
    ['DATABASE_URL', 'postgres://a:5432,b:port/y'],
    ['DATABASE_URL', 'postgres://a,b/y?target_session_attrs=any'],
    ['SECRETS_KEY', 'short'],
    ['SECRETS_KEY', `${KEY},${KEY.slice(4)}`],
    ['ALLOW_PRIVATE_NETWORK', 'perhaps'],
    ['BLOCKED_ADDRESSES', 'example.com'],
    ['BLOCKED_ADDRESSES', '10.0.0.0/33'],
    ['BLOCKED_ADDRESSES', '10.1'],
    ['BLOCKED_ADDRESSES', 'fe80::1%eth0'],
    ['BLOCKED_ADDRESSES', '10.0.0.0/8,,::1'],
    ['DEFAULT_RATE_LIMIT', '0'],
    ['RESULT_RETENTION_DAYS', '0'],
    ['RESULT_RETENTION_DAYS', '36501'],
    ['LOG_LEVEL', 'loud'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['PUBLIC_URL', 'example.com'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'app.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['CORS_ORIGINS', 'https://App.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com:443'],
    ['CORS_ORIGINS', 'https://*.example.com'],
    ['CORS_ORIGINS', 'https://a.example.com https://b.example.com'],
    ['CORS_ORIGINS', 'https://a.example.com,ftp://b.example.com'],
    ['WEBHOOK_RETRY_SCHEDULE', '5,soon'],
    ['WEBHOOK_RETRY_SCHEDULE', '5,,6'],
    ['WEBHOOK_RETRY_SCHEDULE', '-1'],
    ['WEBHOOK_RETRY_SCHEDULE', '604801'],
    ['JWT_SECRET', 'short'],
    ['SESSION_RATE_LIMIT', '0'],
    ['SESSION_RATE_LIMIT', 'many'],
    ['WORKER_CACHED_WORKFLOWS', '-1'],
    ['WORKER_CACHED_WORKFLOWS', '1'],
    ['WORKER_CACHED_WORKFLOWS', '1.5'],
    ['WORKER_VERSIONING', 'perhaps'],
    ['WORKER_POOL', 'Not.A.Pool'],
    ['WORKER_POOL', 'a'.repeat(41)],
    ['WORKER_BUILD_ID', 'v1:2'],
    ['WORKER_DEPLOYMENT_NAME', 'a.b'],
    ['TRUSTED_PROXIES', 'localhost'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', '10.0.0.1,,10.0.0.2'],
    ['TRUSTED_PROXIES', '::/129'],
    ['OIDC_ISSUER', 'issuer.example'],
    ['OIDC_ISSUER', 'http://issuer.example'],
    ['OIDC_ISSUER', 'https://issuer.example/?tenant=1'],
    ['OIDC_ISSUER', 'https://user@issuer.example/'],
    ['OIDC_NAME', 'x'.repeat(101)],
    ['OIDC_CREATE_USERS', 'perhaps'],
  ];
  for (const [variable, value] of wrong) {
    it(`refuses ${variable}=${value.slice(0, 20)} in one sentence that names it`, () => {
      assert.throws(
        () => parseEnvironment({ [variable]: value }),
        (error) =>
          error instanceof ConfigError && error.message.startsWith(`${variable}: `) && !error.message.includes('\n'),
      );
    });
  }

  it('takes OpenID Connect whole or not at all', () => {
    assert.equal(parseEnvironment({}).signIn.oidc, undefined);
    const all = { OIDC_ISSUER: 'https://issuer.example', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
    const settings = { issuer: 'https://issuer.example', clientId: 'a', clientSecret: 'b' };
    assert.deepEqual(parseEnvironment(all).signIn.oidc, { ...settings, name: 'issuer.example', createUsers: false });
    const more = { OIDC_NAME: 'Example', OIDC_CREATE_USERS: 'true' };
    const wanted = { ...settings, name: 'Example', createUsers: true };
    assert.deepEqual(parseEnvironment({ ...all, ...more }).signIn.oidc, wanted);
    for (const variable of Object.keys(all)) {
      assert.throws(
        () => parseEnvironment({ ...all, [variable]: '' }),
        (error) => error instanceof ConfigError && error.message.startsWith(`${variable}: must be set together with`),
      );
    }
  });

  it('takes an issuer without TLS on this machine only', () => {
    const rest = { OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
    for (const issuer of ['http://127.0.0.1:4000', 'http://localhost/realm', 'http://[::1]:1']) {
      assert.equal(parseEnvironment({ OIDC_ISSUER: issuer, ...rest }).signIn.oidc?.issuer, issuer);
    }
    for (const issuer of ['http://127.0.0.1.example', 'http://10.0.0.1', 'ftp://127.0.0.1']) {
      assert.throws(() => parseEnvironment({ OIDC_ISSUER: issuer, ...rest }), /^ConfigError: OIDC_ISSUER: must be/);
    }
  });

  it('knows trusted proxies by address and by network', () => {
    assert.deepEqual(parseEnvironment({}).signIn.trustedProxies, []);
    const { trustedProxies } = parseEnvironment({ TRUSTED_PROXIES: '10.0.0.0/8, ::1,2001:db8::/32' }).signIn;
    assert.deepEqual(trustedProxies, ['10.0.0.0/8', '::1', '2001:db8::/32']);
  });

  it('never quotes a wrong secret', () => {
    for (const variable of ['JWT_SECRET', 'SECRETS_KEY', 'INTERNAL_SERVICE_TOKEN']) {
      assert.throws(
        () => parseEnvironment({ [variable]: 'hunter2' }),
        (error) => error instanceof Error && !error.message.includes('hunter2'),
      );
    }
  });

  it('refuses the embedded stack`s generated secrets in production, and only there', () => {
    const generated = Buffer.alloc(32);
    generated.write(GENERATED_PREFIX);
    const secrets: Record<string, string> = {
      SECRETS_KEY: generated.toString('base64'),
      JWT_SECRET: `${GENERATED_PREFIX}${'x'.repeat(40)}`,
      INTERNAL_SERVICE_TOKEN: `${GENERATED_PREFIX}${'x'.repeat(40)}`,
    };
    for (const [variable, value] of Object.entries(secrets)) {
      assert.throws(
        () => parseEnvironment({ NODE_ENV: 'production', [variable]: value }),
        new RegExp(`^${variable}|${variable}`),
      );
      assert.doesNotThrow(() => parseEnvironment({ [variable]: value }));
    }
    assert.doesNotThrow(() => parseEnvironment({ NODE_ENV: 'production', SECRETS_KEY: KEY }));
  });
});
