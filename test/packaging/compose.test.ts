// Compares docker-compose.yml with the code that it starts. Nothing starts it here: that needs a container engine.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { loadWorkerConfig } from '../../activities/worker/config.js';
import { routes } from '../../api/app.js';
import { parseEnvironment, VARIABLES } from '../../config/environment.js';
import { dynamicConfig } from '../../cli/embedded/temporal-server.js';
import { composeText, filledCompose, parseCompose, ROOT, toMib, variablesOf } from './compose-file.js';
import { SAMPLE_SECRETS, withSecretsIn, writeSecrets } from './sample-secrets.js';

/** The schema of the compose-spec project (Apache-2.0), from version 2.16.2 of its loader for Go. */
const SCHEMA = path.join(ROOT, 'test/support/compose-spec-schema.json');
/** The file in which each of our processes declares its required variables. */
const ENTRIES = { api: 'api/main.ts', worker: 'activities/worker/config.ts', migrate: 'cli/migrate.ts' };
/** Variables that Node.js or config/temporal-connection.ts reads, and not config/environment.ts. */
const KNOWN_ELSEWHERE = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'NODE_OPTIONS'];
const OURS = Object.keys(ENTRIES) as (keyof typeof ENTRIES)[];
const SECRET = /(?:PASSWORD|PWD|TOKEN|SECRET|KEY)$/;
const { services, networks, secrets } = filledCompose();
const folder = writeSecrets();

const environmentOf = (name: string): Record<string, string> =>
  withSecretsIn(folder, services[name]?.environment ?? {});
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('docker-compose.yml', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('is valid by the Compose Specification', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);
    assert.ok(validate(parseCompose()), ajv.errorsText(validate.errors));
    assert.ok(!validate({ services: { api: { imagee: 'x' } } }), 'the schema refuses what it does not know');
  });

  for (const name of OURS) {
    it(`sets all that ${name} requires in production, and nothing that the code does not know`, () => {
      const required = [...read(ENTRIES[name]).matchAll(/required\([^']+'\w+',\s*'(\w+)'/g)];
      const environment = environmentOf(name);
      assert.ok(required.length > 0);
      for (const [, variable] of required)
        assert.ok(environment[variable!] ?? environment[`${variable}_FILE`], `${variable} is not set`);
      for (const variable of Object.keys(environment)) {
        assert.ok([...VARIABLES, ...KNOWN_ELSEWHERE].includes(variable), `${variable} is not known`);
      }
      assert.equal(parseEnvironment(environment).production, true);
      assert.equal(environment['HOST'], '0.0.0.0', 'or nobody reaches it from outside of its container');
    });
  }

  it('gives worker and API the same secrets, servers and queue, and the token of executors to the API alone', () => {
    loadWorkerConfig(environmentOf('worker'));
    const own =
      /^(?:PORT|METRICS_PORT|JWT_\w+|OIDC_\w+|CORS_ORIGINS|TRUSTED_PROXIES|DEFAULT_RATE_LIMIT|SESSION_RATE_LIMIT|RESULT_RETENTION_DAYS|MAX_PROJECT_BYTES|WORKER_\w+|NODE_OPTIONS|INTERNAL_SERVICE_TOKEN\w*)$/;
    const shared = (name: string) => Object.entries(environmentOf(name)).filter(([variable]) => !own.test(variable));
    assert.deepEqual(shared('worker'), shared('api'));
    assert.equal(parseEnvironment(environmentOf('api')).internalServiceToken, SAMPLE_SECRETS['internal_service_token']);
    assert.equal(parseEnvironment(environmentOf('worker')).internalServiceToken, undefined);
  });

  it('starts what the npm scripts start, by entry points that the build makes', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const name of OURS) {
      const command = services[name]!.command!.join(' ');
      assert.equal(`exec ${command}`, scripts[name]);
      assert.ok(existsSync(path.join(ROOT, command.split(' ').at(-1)!)), command);
    }
  });

  it('publishes the ports on which the code listens, and its health checks request paths that the code serves', () => {
    const port = { api: environmentOf('api')['PORT'], worker: environmentOf('worker')['WORKER_METRICS_PORT'] };
    for (const name of ['api', 'worker'] as const) {
      const check = services[name]!.healthcheck!.test!.join(' ');
      const [, checked, asked] = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'/.exec(check) ?? [];
      assert.equal(checked, port[name]);
      assert.ok(routes.some((route) => route.method === 'GET' && route.path === asked));
      assert.match(read('telemetry/health-server.ts'), new RegExp(`'${asked}'`));
    }
    assert.deepEqual(services['api']!.ports, [`127.0.0.1:3000:${port.api}`]);
    assert.equal(environmentOf('api')['TEMPORAL_ADDRESS'], 'temporal:7233');
    assert.ok(services['temporal']!.healthcheck!.test!.includes('7233'));
    assert.equal(new URL(environmentOf('api')['DATABASE_URL']!).hostname, 'postgres');
  });

  it('lets workers be multiplied: nothing of theirs has a fixed name or port on the host', () => {
    const { container_name: name, ports, volumes } = services['worker']!;
    assert.deepEqual([name, ports], [undefined, undefined]);
    // All workers and the API share the folder of files, which is a named volume and no path of the host.
    assert.deepEqual(volumes, ['files:/var/lib/workflow-files']);
    assert.deepEqual(services['api']!.volumes, volumes);
  });

  it('pins every image to a version, our own to that of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    for (const [name, { image, build }] of Object.entries(services)) {
      assert.match(image, /^[\w./-]+:v?\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/, name);
      if (build !== undefined) assert.ok(image.endsWith(`:${version}`), image);
    }
    const [server, tools] = ['temporal', 'temporal-schema'].map((name) => services[name]!.image.split(':')[1]!);
    assert.ok(tools!.startsWith(`${server}-`), 'the schema tool is of the server version');
    assert.equal(services['temporal-namespace']!.image, services['temporal-schema']!.image);
  });

  it('has no secret in it, and no default for one', () => {
    const raw = parseCompose().services;
    for (const [name, { environment = {} }] of Object.entries(raw)) {
      for (const [variable, value] of Object.entries(environment).filter(([key]) => SECRET.test(key))) {
        assert.match(value, /^\$\{\w+:-\}$/, `${name}: ${variable}`);
      }
      assert.doesNotMatch(environment['DATABASE_URL'] ?? '', /:\/\/[^@/]*:[^@/]*@/, name);
    }
    for (const { name, fallback } of variablesOf(composeText())) {
      if (SECRET.test(name)) assert.equal(fallback, '', name);
    }
  });

  it('gives each service the secrets whose files it names, and no others', () => {
    assert.deepEqual(Object.keys(secrets).toSorted(), Object.keys(SAMPLE_SECRETS).toSorted());
    for (const [name, { file }] of Object.entries(secrets)) assert.equal(file, `./secrets/${name}`);
    for (const [name, { environment = {}, secrets: given = [] }] of Object.entries(services)) {
      const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? []);
      // The script of `postgres` reads its other secrets from the folder.
      const byScript = [...read('deploy/postgres/create-roles.sh').matchAll(/\$SECRETS_DIR\/(\w+)/g)];
      if (name === 'postgres') named.push(...byScript.map(([, secret]) => secret!));
      assert.deepEqual(new Set(given), new Set(named), name);
    }
    assert.match(read('.gitignore'), /^secrets\/$/m);
  });

  it('lets each service reach only what it needs, and databases reach nothing outside', () => {
    const members = (network: string) =>
      Object.keys(services).filter((name) => services[name]!.networks!.includes(network));
    assert.deepEqual(members('database'), ['postgres', 'temporal-schema', 'temporal', 'migrate', 'api', 'worker']);
    assert.deepEqual(members('temporal'), ['temporal', 'temporal-namespace', 'temporal-ui', 'api', 'worker']);
    assert.deepEqual(members('outside'), ['api', 'worker']);
    assert.deepEqual(members('operators'), ['temporal-ui']);
    const closed = Object.keys(networks).filter((name) => networks[name]?.internal === true);
    assert.deepEqual(closed, ['database', 'temporal']);
    // A port can only be published from a network that is not internal.
    for (const [name, { ports, networks: own }] of Object.entries(services)) {
      if (ports !== undefined)
        assert.ok(
          own!.some((network) => !closed.includes(network)),
          name,
        );
    }
  });

  it('lets API and worker use the database by another role than the one that owns its tables', () => {
    const role = (name: string) => new URL(parseEnvironment(environmentOf(name)).databaseUrl!).username;
    assert.deepEqual(['migrate', 'api', 'worker'].map(role), [
      'workflow_automation_owner',
      'workflow_automation',
      'workflow_automation',
    ]);
    assert.equal(environmentOf('migrate')['DATABASE_RUNTIME_ROLE'], role('api'));
    const script = read('deploy/postgres/create-roles.sh');
    for (const name of ['migrate', 'api']) assert.ok(script.includes(`CREATE ROLE ${role(name)} LOGIN`));
    assert.ok(script.includes(`CREATE DATABASE workflow_automation OWNER ${role('migrate')};`));
  });

  it('has each of its variables in .env.example with its default, and requires none', () => {
    const lines = read('.env.example').split('\n');
    const optional = new Map(
      lines.flatMap((line) => [...line.matchAll(/^# ([A-Z0-9_]+)=(.*)$/g)].map(([, k, v]) => [k, v])),
    );
    const variables = variablesOf(composeText());
    for (const { name, isRequired, fallback } of variables) {
      assert.ok(!isRequired, name);
      assert.equal(optional.get(name), fallback, name);
    }
    assert.deepEqual(new Set(optional.keys()), new Set(variables.map(({ name }) => name)));
    assert.match(read('.gitignore'), /^\.env$/m);
  });

  it('starts each service after what it needs', () => {
    const needs = (name: string) =>
      Object.entries(services[name]!.depends_on ?? {}).map(([other, { condition }]) => `${other} ${condition}`);
    const completed = (name: string) => `${name} service_completed_successfully`;
    assert.deepEqual(needs('temporal-schema'), ['postgres service_healthy']);
    assert.ok(needs('temporal').includes(completed('temporal-schema')));
    assert.deepEqual(needs('temporal-namespace'), ['temporal service_healthy']);
    assert.deepEqual(needs('migrate'), ['postgres service_healthy']);
    for (const name of ['api', 'worker']) {
      assert.deepEqual(needs(name), [completed('migrate'), completed('temporal-namespace')]);
    }
    for (const { depends_on: dependencies = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(dependencies)) {
        const { healthcheck, restart = 'no' } = services[name]!;
        if (condition === 'service_healthy') assert.ok(healthcheck?.test, `${name} says whether it is healthy`);
        else assert.match(restart, /^on-failure/, `${name} ends`);
      }
    }
  });

  it('gives the processes time to drain, and the memory of docs/operate/tuning.md', () => {
    const { workerActivitySlots: slots, workerPayloadMemoryMb: payload } = parseEnvironment(environmentOf('worker'));
    const defaults = parseEnvironment({});
    assert.deepEqual([slots, payload], [defaults.workerActivitySlots, defaults.workerPayloadMemoryMb]);
    const needed = { worker: 250 + 2 * payload + slots + 200, api: 200 + 2 * 192 };
    for (const name of ['api', 'worker'] as const) {
      const { deploy, stop_grace_period: grace, read_only: isReadOnly } = services[name]!;
      assert.ok(Number(/^(\d+)s$/.exec(grace!)![1]) > 15);
      assert.equal(isReadOnly, true);
      const limit = toMib(deploy!.resources.limits.memory);
      assert.ok(limit >= needed[name] && limit < 1.2 * needed[name], `${name}: ${limit} MiB for ${needed[name]}`);
      assert.equal(environmentOf(name)['NODE_OPTIONS'], `--max-old-space-size=${(limit * 3) / 4}`);
    }
    const connections = Number(/max_connections=(\d+)/.exec(services['postgres']!.command!.join(' '))![1]);
    assert.ok(
      connections >= 20 * (1 + 5) + 4 * 2 * 20 + 10,
      'an API, five workers, the four parts of Temporal, a person',
    );
  });

  it('mounts files that are there, and gives Temporal the settings of the embedded server', () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter((one) => one.startsWith('./')));
    assert.equal(mounts.length, 5);
    for (const mount of mounts) assert.ok(existsSync(path.join(ROOT, mount.split(':')[0]!)), mount);
    const settings = parse(read('deploy/temporal/dynamic-config.yaml')) as Record<string, { value: unknown }[]>;
    assert.ok(Object.keys(settings).length > 0);
    for (const [key, [setting]] of Object.entries(settings)) assert.equal(setting!.value, dynamicConfig[key], key);
  });
});
