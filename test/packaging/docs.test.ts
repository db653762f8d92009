// Compares docs/operate/deploy.md with the code: its YAML is parsed, and names existing images, commands, ports, paths
// and variables.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../config/environment.js';
import { RUN_SEARCH_ATTRIBUTES } from '../../contract/run-workflow.js';
import { filledCompose, ROOT } from './compose-file.js';
import { SAMPLE_SECRETS } from './sample-secrets.js';

const DOCS = path.join(ROOT, 'docs');
const { services } = filledCompose();

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  name: string;
  image: string;
  command?: string[];
  ports?: { name: string; containerPort: number }[];
  env?: { name: string; value: string }[];
  envFrom: unknown[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  resources?: { limits: { memory: string } };
  securityContext?: { runAsNonRoot: boolean; readOnlyRootFilesystem: boolean };
}
interface Manifest {
  kind?: string;
  spec?: {
    template?: { spec: { terminationGracePeriodSeconds?: number; containers: Container[] } };
    triggers?: Trigger[];
  };
  services?: Record<string, { environment: Record<string, string> }>;
  triggers?: Trigger[];
}
interface Trigger {
  type: string;
  metadata: Record<string, string>;
}

const blocks = (file: string, language: string): string[] =>
  [...readFileSync(path.join(DOCS, file), 'utf8').matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, , word]) => word === language)
    .map(([, indent, , text]) => text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));

const manifests = blocks('operate/deploy.md', 'yaml').map((text) => parse(text) as Manifest);
const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);

describe('docs/operate/deploy.md', () => {
  it('shows YAML that parses, as every other document does', () => {
    assert.equal(manifests.length, 6);
    const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.md'))) {
      for (const text of blocks(file, 'yaml')) {
        for (const document of parseAllDocuments(text)) assert.deepEqual(document.errors, [], file);
      }
    }
  });

  it('starts in Kubernetes what Docker Compose starts, with the same memory, as the same user', () => {
    assert.deepEqual(containers.map(({ name }) => name).toSorted(), ['api', 'migrate', 'worker']);
    for (const { name, image, command, env = [], resources, securityContext } of containers) {
      const service = services[name]!;
      assert.equal(image.split('/').at(-1), service.image);
      if (command !== undefined) assert.deepEqual(command.slice(2), service.command);
      for (const { name: variable, value } of env) assert.equal(value, service.environment![variable], variable);
      if (name === 'migrate') continue;
      assert.equal(resources?.limits.memory.replace('Mi', 'm'), service.deploy!.resources.limits.memory);
      assert.ok(securityContext?.runAsNonRoot && securityContext.readOnlyRootFilesystem);
      assert.ok(env.some(({ name: variable }) => variable === 'NODE_OPTIONS'));
    }
  });

  it('probes ports that the containers have, and gives them longer than they need to drain', () => {
    for (const { name, ports, livenessProbe, readinessProbe, startupProbe } of containers) {
      if (name === 'migrate') continue;
      const variable = name === 'api' ? 'PORT' : 'WORKER_METRICS_PORT';
      assert.equal(String(ports![0]!.containerPort), services[name]!.environment![variable]);
      for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
        assert.equal(probe!.httpGet.port, ports![0]!.name);
        assert.match(probe!.httpGet.path, /^\/(healthz|readyz)$/);
      }
      assert.equal(livenessProbe!.httpGet.path, '/healthz');
    }
    const graces = manifests.flatMap(({ spec }) => spec?.template?.spec.terminationGracePeriodSeconds ?? []);
    assert.equal(graces.length, 2);
    for (const seconds of graces) assert.ok(seconds >= 15 + 5);
  });

  it('scales by the queue that workers take from, and overrides services that there are', () => {
    const triggers = manifests.flatMap((manifest) => manifest.spec?.triggers ?? manifest.triggers ?? []);
    assert.deepEqual(
      triggers.map(({ type }) => type),
      ['prometheus', 'temporal'],
    );
    assert.match(triggers[0]!.metadata['query']!, /taskqueue="workflow_runs"/);
    assert.equal(triggers[1]!.metadata['taskQueue'], 'workflow-runs');
    const overrides = manifests.flatMap(({ services: given = {} }) => Object.entries(given));
    assert.deepEqual(
      overrides.map(([name]) => name),
      ['api', 'worker'],
    );
    for (const [, { environment }] of overrides) assert.ok(VARIABLES.includes(Object.keys(environment)[0]!));
  });

  it('names the search attributes of runs to Temporal Cloud and to the setup script', () => {
    const tcld = blocks('operate/deploy.md', 'sh').find((text) =>
      text.includes('tcld namespace search-attributes add'),
    )!;
    const script = readFileSync(path.join(ROOT, 'deploy/temporal/setup-namespace.sh'), 'utf8');
    for (const [name, type] of Object.entries(RUN_SEARCH_ATTRIBUTES)) {
      assert.ok(tcld.includes(`--sa ${name}=${type}`), name);
      assert.match(script, new RegExp(`for name in .*\\b${name}\\b.*; do`));
      assert.equal(type, 'Keyword');
    }
  });

  it('has a command that makes all secrets, in a folder that is readable for its owner alone', () => {
    const [command] = blocks('operate/deploy.md', 'sh');
    const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
    const read = (name: string): string => readFileSync(path.join(folder, 'secrets', name), 'utf8').trim();
    try {
      execFileSync('/bin/sh', ['-euc', command!], { cwd: folder });
      const names = readdirSync(path.join(folder, 'secrets'));
      assert.deepEqual(names.toSorted(), Object.keys(SAMPLE_SECRETS).toSorted());
      assert.equal(Buffer.from(read('secrets_key'), 'base64').length, 32);
      for (const name of names.filter((each) => each !== 'secrets_key')) assert.match(read(name), /^[0-9a-f]{64}$/);
      assert.equal(new Set(names.map(read)).size, names.length);
      assert.equal(statSync(path.join(folder, 'secrets')).mode & 0o777, 0o700);
      assert.equal(
        statSync(path.join(folder, 'secrets/secrets_key')).mode & 0o777,
        0o444,
        'containers have their users',
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
