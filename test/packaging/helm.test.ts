// Renders deploy/helm for three sizes and checks the manifests: by the schemas of Kubernetes and of the operators that
// the chart uses, by kube-score, and by the variables and commands of the code.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { VARIABLES } from '../../config/environment.js';
import { filledCompose, ROOT } from './compose-file.js';
import { goTool, validate } from './tools.js';

const run = promisify(execFile);
const CHART = path.join(ROOT, 'deploy/helm');
const GIVEN = path.join(ROOT, 'test/packaging/helm-values.yaml');
const SIZES = ['small', 'medium', 'large'] as const;
/** The oldest version that the chart names, and a new one. */
const KUBERNETES = ['1.28.0', '1.34.0'];
/** Without this option, a Helm that `go install` has built assumes an older version of Kubernetes. */
const AS_OF = ['--kube-version', KUBERNETES[1]!];
/** Variables that the chart sets and that Node.js or Temporal's client reads. */
const OTHERS = ['NODE_OPTIONS', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY'];
/** Checks of kube-score that the chart fails on purpose, each with the reason. */
const ACCEPTED: Record<string, string> = {
  'container-image-pull-policy': 'tags of releases do not change, and a digest may be given',
  'container-security-context-user-group-id': 'the image has the user 1000, whom files of a claim belong to',
  'deployment-has-host-podantiaffinity': 'topology spread constraints put replicas on different hosts',
  'pod-probes-identical':
    'the API must answer polls while Temporal is away, so its readiness asks /healthz, and only its startup asks /readyz',
};
/** Checks that only the size `small` fails on purpose, which is meant for trying the service out. */
const ACCEPTED_IF_SMALL: Record<string, string> = {
  'deployment-replicas': 'one replica of the API is what small means',
};

interface Probe {
  httpGet: { path: string; port: string };
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}
interface Container {
  name: string;
  image: string;
  command: string[];
  env: Variable[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  resources: { limits: { memory: string } };
  securityContext: object;
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    maxReplicaCount?: number;
    triggers?: { metadata: Record<string, string> }[];
    template?: {
      spec: { securityContext: object; automountServiceAccountToken: boolean; containers: Container[] };
    };
  };
}

describe('the chart', function () {
  this.timeout(25 * 60_000);
  let helm: string;
  let folder: string;

  before(async () => {
    helm = await goTool('helm');
    folder = mkdtempSync(path.join(tmpdir(), 'chart-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function render(size: string, values: object = {}): Promise<{ file: string; manifests: Manifest[] }> {
    const more = path.join(folder, 'values.yaml');
    writeFileSync(more, stringify(values));
    const files = [GIVEN, path.join(CHART, `sizes/${size}.yaml`), more].flatMap((each) => ['--values', each]);
    const { stdout } = await run(helm, ['template', 'flows', CHART, ...files, ...AS_OF], { maxBuffer: 10_000_000 });
    const file = path.join(folder, `${size}.yaml`);
    writeFileSync(file, stdout);
    const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest | null);
    return { file, manifests: manifests.filter((each) => each !== null) };
  }

  async function refusal(values: object): Promise<string> {
    return render('small', values).then(
      () => assert.fail('the values should have been refused'),
      (error: { stderr: string }) => error.stderr,
    );
  }

  const containersOf = (manifests: Manifest[]): Container[] =>
    manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
  const named = (manifests: Manifest[], kind: string): string[] =>
    manifests.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);

  for (const size of SIZES) {
    describe(`of the size ${size}`, () => {
      it('passes helm lint, and the schemas of two versions of Kubernetes', async () => {
        const values = ['--values', GIVEN, '--values', path.join(CHART, `sizes/${size}.yaml`)];
        await run(helm, ['lint', '--strict', CHART, ...values, ...AS_OF]);
        const { file, manifests } = await render(size);
        const core = manifests.filter(({ apiVersion }) => !/keda|cnpg/.test(apiVersion));
        writeFileSync(file, core.map((each) => `---\n${stringify(each)}`).join(''));
        for (const version of KUBERNETES) assert.equal(await validate(file, version), '', version);
      });

      it('passes the schemas of KEDA and CloudNativePG', async () => {
        const { manifests } = await render(size);
        for (const manifest of manifests.filter(({ apiVersion }) => /keda|cnpg/.test(apiVersion))) {
          const schema = JSON.parse(
            readFileSync(path.join(ROOT, `test/packaging/schemas/${manifest.kind}.json`), 'utf8'),
          ) as object;
          const check = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
          assert.ok(check(manifest), JSON.stringify(check.errors));
        }
      });

      it('passes the rules of kube-score but for those that are accepted', async () => {
        const { file } = await render(size);
        const all = { ...ACCEPTED, ...(size === 'small' && ACCEPTED_IF_SMALL) };
        const accepted = Object.keys(all).flatMap((name) => ['--ignore-test', name]);
        // The chart requests processor time but limits none: a limit would slow a process even if the host is idle.
        const args = ['score', '--output-format', 'ci', '--ignore-container-cpu-limit', ...accepted, file];
        const { stdout } = await run(await goTool('kube-score'), args).catch((error: { stdout: string }) => error);
        const failed = stdout.split('\n').filter((line) => /^\[(?:CRITICAL|WARNING)\]/.test(line));
        assert.deepEqual(failed, []);
      });

      it('runs no container as root, with a writable root file system, or with a mounted service account token', async () => {
        const { manifests } = await render(size);
        const pods = manifests.flatMap(({ spec }) => spec?.template?.spec ?? []);
        assert.ok(pods.length >= 3);
        for (const pod of pods) {
          assert.equal(pod.automountServiceAccountToken, false);
          assert.equal((pod.securityContext as { runAsNonRoot: boolean }).runAsNonRoot, true);
          for (const { securityContext } of pod.containers) {
            assert.deepEqual(securityContext, {
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
            });
          }
        }
      });

      it('sets only variables that something reads, and secrets by reference alone', async () => {
        const { manifests } = await render(size);
        assert.deepEqual(named(manifests, 'Secret'), []);
        const settings = manifests.find(({ kind }) => kind === 'ConfigMap')!.data!;
        for (const { env, name } of containersOf(manifests)) {
          for (const variable of [...env.map((each) => each.name), ...Object.keys(settings)]) {
            assert.ok(VARIABLES.includes(variable) || OTHERS.includes(variable), `${name}: ${variable}`);
          }
          for (const { name: variable, value } of env) {
            if (/KEY|SECRET|TOKEN|DATABASE_URL/.test(variable)) assert.equal(value, undefined, variable);
          }
        }
        const worker = containersOf(manifests).find(({ name }) => name === 'worker')!;
        const ofApi = ['JWT_SECRET', 'INTERNAL_SERVICE_TOKEN', 'OIDC_CLIENT_SECRET'];
        assert.deepEqual(
          worker.env.filter(({ name }) => ofApi.includes(name)),
          [],
        );
      });

      it('probes as docs/operate/helm.md says: liveness never depends on others', async () => {
        const { manifests } = await render(size);
        for (const { name, livenessProbe, readinessProbe, startupProbe, ports } of containersOf(manifests)) {
          if (name === 'migrate') continue;
          assert.equal(livenessProbe!.httpGet.path, '/healthz', name);
          assert.equal(readinessProbe!.httpGet.path, name === 'api' ? '/healthz' : '/readyz', name);
          for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
            assert.ok(
              ports!.some((port) => port.name === probe!.httpGet.port),
              name,
            );
          }
        }
      });

      it('starts what the images start', async () => {
        const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
        const { manifests } = await render(size);
        for (const { name, command } of containersOf(manifests)) {
          assert.deepEqual(command.slice(0, 2), ['/usr/bin/tini', '--']);
          if (name === 'migrate') assert.equal(command.at(-1), 'dist/cli/migrate.js');
          else assert.ok(dockerfile.includes(`CMD ${JSON.stringify(command.slice(2)).replaceAll(',', ', ')}`), name);
        }
      });
    });
  }

  it('gives each process the memory that it has in Docker Compose', async () => {
    const { services } = filledCompose();
    for (const { name, env, resources } of containersOf((await render('medium')).manifests)) {
      if (name === 'migrate') continue;
      const service = services[name]!;
      assert.equal(resources.limits.memory.replace('Mi', 'm'), service.deploy!.resources.limits.memory, name);
      const options = env.find((each) => each.name === 'NODE_OPTIONS')!.value;
      assert.equal(options, service.environment!['NODE_OPTIONS'], name);
    }
  });

  it('renders a database cluster where configured; its Secret then gives DATABASE_URL', async () => {
    const { manifests } = await render('medium');
    assert.deepEqual(named(manifests, 'Cluster'), ['flows-db']);
    for (const { env } of containersOf(manifests)) {
      const { secretKeyRef } = env.find(({ name }) => name === 'DATABASE_URL')!.valueFrom!;
      assert.deepEqual(secretKeyRef, { name: 'flows-db-app', key: 'uri' });
    }
    assert.deepEqual(named((await render('small')).manifests, 'Cluster'), []);
  });

  it('scales workers by the backlog of their queue only with autoscaling, and then sets no replicas', async () => {
    const { manifests } = await render('large');
    const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject');
    assert.deepEqual(
      scaled.map(({ metadata, spec }) => [
        metadata.name,
        spec.maxReplicaCount,
        spec.triggers![0]!.metadata['taskQueue'],
      ]),
      [['flows-worker-default', 30, 'workflow-runs']],
    );
    const worker = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'flows-worker-default',
    );
    assert.equal(worker!.spec.replicas, undefined);
    assert.deepEqual(named((await render('medium')).manifests, 'ScaledObject'), []);
  });

  it('gives each entry of workers its pool, and scales it by the queue of that pool', async () => {
    const common = {
      replicas: 1,
      maxOldSpaceMb: 864,
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
      autoscaling: { enabled: true },
    };
    const workers = [
      { ...common, name: 'main' },
      { ...common, name: 'office', pool: 'office' },
    ];
    const { manifests } = await render('small', { workers });
    const pools = containersOf(manifests).flatMap(({ env }) =>
      env.filter(({ name }) => name === 'WORKER_POOL').map(({ value }) => value),
    );
    assert.deepEqual(pools, ['default', 'office']);
    const triggers = manifests
      .filter(({ kind }) => kind === 'ScaledObject')
      .map(({ spec }) => spec.triggers![0]!.metadata);
    assert.deepEqual(
      triggers.map(({ taskQueue, queueTypes }) => [taskQueue, queueTypes]),
      [
        ['workflow-runs', 'workflow,activity'],
        ['workflow-runs.office', 'activity'],
      ],
    );
  });

  it('keeps one Deployment for each build where workers are versioned', async () => {
    const { manifests } = await render('small', { workerVersioning: { enabled: true, builds: ['0.3.0', '0.4.0_a'] } });
    const workers = named(manifests, 'Deployment').filter((name) => name.includes('worker'));
    assert.deepEqual(workers, ['flows-worker-default-0-3-0', 'flows-worker-default-0-4-0-a']);
    for (const container of containersOf(manifests).filter(({ name }) => name === 'worker')) {
      const value = (variable: string) => container.env.find(({ name }) => name === variable)?.value;
      assert.equal(value('WORKER_VERSIONING'), 'true');
      assert.equal(container.image.split(':').at(-1), value('WORKER_BUILD_ID'));
    }
  });

  it('gives models of other providers to API and workers', async () => {
    const providers = [{ name: 'local', base_url: 'https://models.example/v1', api_key_env: 'LOCAL_KEY', models: [] }];
    const { manifests } = await render('small', { modelProviders: { providers }, extraSecrets: ['provider-keys'] });
    const settings = manifests.find(({ metadata }) => metadata.name === 'flows-providers')!.data!;
    assert.deepEqual(JSON.parse(settings['providers.json']!), { providers });
    for (const { name, envFrom } of containersOf(manifests).filter((each) => each.name !== 'migrate')) {
      assert.deepEqual(envFrom, [{ configMapRef: { name: 'flows' } }, { secretRef: { name: 'provider-keys' } }], name);
    }
  });

  it('refuses values that would not work, and names them', async () => {
    const wrong: [object, RegExp][] = [
      [{ existingSecret: '' }, /existingSecret/],
      [{ image: { tag: 'latest' } }, /image/],
      [{ publicUrl: 'workflows.example' }, /publicUrl/],
      [{ temporal: { address: 'http://temporal:7233' } }, /address/],
      [{ files: { existingClaim: 'files' } }, /files/],
      [{ files: { s3: { bucket: '' } } }, /files/],
      [{ workers: [] }, /workers/],
      [
        {
          workers: [
            { name: 'A b', replicas: 1, maxOldSpaceMb: 864, resources: { requests: {}, limits: { memory: '1Gi' } } },
          ],
        },
        /name/,
      ],
      [
        {
          workers: [
            {
              name: 'a',
              pool: 'Not.A.Pool',
              replicas: 1,
              maxOldSpaceMb: 864,
              resources: { requests: {}, limits: { memory: '1Gi' } },
            },
          ],
        },
        /pool/,
      ],
      [{ env: { lower: 'x' } }, /lower/],
      [{ api: { replicas: 0 } }, /replicas/],
      [{ ingress: { host: '' } }, /ingress/],
      [{ unknown: true }, /unknown/],
    ];
    for (const [values, message] of wrong) assert.match(await refusal(values), message, JSON.stringify(values));
  });

  it('documents every top-level value and no other, and has a file for each size', () => {
    const page = readFileSync(path.join(ROOT, 'docs/operate/helm.md'), 'utf8');
    const values = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
    const [, section] = page.split('\n## Values\n');
    const cells = [...section!.split('\n## ')[0]!.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell]) => cell!);
    const rows = cells.flatMap((cell) => [...cell.matchAll(/`([A-Za-z]+)[.\w]*`/g)].map(([, name]) => name!));
    assert.deepEqual([...new Set(rows)].toSorted(), Object.keys(values).toSorted());
    assert.deepEqual(readdirSync(path.join(CHART, 'sizes')).toSorted(), SIZES.map((size) => `${size}.yaml`).toSorted());
  });
});
