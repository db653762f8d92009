// Runs our own services of docker-compose.yml as processes. Commands, health checks and environments are those of the
// file. Only addresses are replaced, by free ports and the addresses of a test stack's servers.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { claimPort } from '../../cli/embedded/ports.js';
import { parseEnvironment } from '../../config/environment.js';
import { queryDatabase } from '../support/inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { filledCompose, ROOT, type ComposeFile } from './compose-file.js';
import { SAMPLE_SECRETS, withSecretsIn, writeSecrets } from './sample-secrets.js';

export interface ServiceRun {
  output: () => string;
  exited: Promise<number | null>;
  stop: () => Promise<number | null>;
}

const ROLES = ['workflow_automation_owner', 'workflow_automation'];
const NAMESPACE = 'packaging';
const DATABASE = 'packaging';

export class ComposeStack {
  readonly #services: ComposeFile['services'];
  readonly #stack: TestStack;
  readonly #ports: Record<string, number>;
  readonly #running = new Set<ServiceRun>();
  readonly #secrets = writeSecrets();

  private constructor(stack: TestStack, services: ComposeFile['services'], ports: Record<string, number>) {
    [this.#stack, this.#services, this.#ports] = [stack, services, ports];
  }

  /** Creates an empty database and the service's roles on the stack's server, as the compose file does. */
  static async create(stack: TestStack): Promise<ComposeStack> {
    const { services } = filledCompose({ TEMPORAL_NAMESPACE: NAMESPACE });
    for (const statement of roleStatements()) await queryDatabase(stack, statement);
    const free = () => claimPort({ port: 0, host: '127.0.0.1', variable: 'PORT' });
    return new ComposeStack(stack, services, { api: await free(), metrics: await free(), worker: await free() });
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#running].map((run) => run.stop()));
    await queryDatabase(this.#stack, `DROP DATABASE IF EXISTS ${DATABASE} WITH (FORCE)`);
    for (const role of ROLES) await queryDatabase(this.#stack, `DROP ROLE IF EXISTS ${role}`);
    rmSync(this.#secrets, { recursive: true });
  }

  /** The address of a service's database, with the password of its role. */
  databaseUrl(service: string): string {
    return parseEnvironment(this.environmentOf(service)).databaseUrl!;
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.#ports['metrics']}`;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.#ports['api']}`;
  }

  /** Starts another process of a service. */
  start(service: string, overrides: Record<string, string> = {}): ServiceRun {
    const [file, ...args] = this.#services[service]!.command!;
    const child = spawn(file!, args, { cwd: ROOT, env: { ...this.environmentOf(service), ...overrides } });
    const run = follow(child);
    this.#running.add(run);
    void run.exited.then(() => this.#running.delete(run));
    return run;
  }

  /** Runs a command in a service's environment, as `docker compose exec` does. */
  exec(service: string, ...command: string[]): Promise<{ stdout: string }> {
    return this.execWith({}, service, ...command);
  }

  /** Runs a command as `docker compose exec --env ...` does. */
  execWith(overrides: Record<string, string>, service: string, ...command: string[]): Promise<{ stdout: string }> {
    const env = { ...this.environmentOf(service), ...overrides };
    return promisify(execFile)(command[0]!, command.slice(1), { cwd: ROOT, env });
  }

  /** Returns the health check's exit code. */
  async health(service: string): Promise<number> {
    const [kind, ...command] = this.#services[service]!.healthcheck!.test!;
    if (kind !== 'CMD') throw new Error('a shell may not be in the image');
    const { api, worker } = this.#ports;
    const moved = command.map((part) => part.replace(':3000/', `:${api}/`).replace(':9464/', `:${worker}/`));
    const failed = await this.exec(service, ...moved).catch((error: { code?: number }) => error);
    return 'code' in failed ? (failed.code ?? -1) : 0;
  }

  /** Runs the setup script in `deploy/` that a service of Temporal mounts, with `folder` first on PATH. */
  setUp(service: string, folder: string): Promise<{ stdout: string }> {
    const script = this.#services[service]!.volumes![0]!.split(':')[0]!;
    const env = { ...this.environmentOf(service), PATH: `${folder}:${process.env['PATH']}` };
    return promisify(execFile)('/bin/sh', [script], { cwd: ROOT, env });
  }

  environmentOf(service: string): Record<string, string> {
    const given = withSecretsIn(this.#secrets, this.#services[service]!.environment!);
    const moved = Object.entries(given).map(([name, value]) => [name, this.#moved(name, value)]);
    // Every container has these variables.
    const { PATH, HOME } = process.env;
    return { ...Object.fromEntries(moved), PATH, HOME } as Record<string, string>;
  }

  #moved(name: string, value: string): string {
    if (name === 'PORT') return String(this.#ports['api']);
    if (name === 'METRICS_PORT') return String(this.#ports['metrics']);
    if (name === 'WORKER_METRICS_PORT') return String(this.#ports['worker']);
    if (name === 'PUBLIC_URL') return this.apiUrl;
    if (name === 'TEMPORAL_ADDRESS') return this.#stack.stack.temporal_address;
    if (name !== 'DATABASE_URL') return value;
    const url = new URL(value);
    url.host = new URL(this.#stack.stack.database_url).host;
    url.pathname = `/${DATABASE}`;
    return url.href;
  }
}

/** Returns the statements of `deploy/postgres/create-roles.sh` for our own database, which is renamed to DATABASE. */
function roleStatements(): string[] {
  const script = readFileSync(path.join(ROOT, 'deploy/postgres/create-roles.sh'), 'utf8');
  const files = new Map(
    [...script.matchAll(/^\\set (\w+) `cat "\$SECRETS_DIR\/(\w+)"`$/gm)].map(([, k, v]) => [k!, v!]),
  );
  const statements = script.split('\n').filter((line) => line.endsWith(';') && !/\btemporal\b/.test(line));
  return statements.map((line) =>
    line
      .replace(/:'(\w+)'/, (_, name: string) => `'${SAMPLE_SECRETS[files.get(name)!]!}'`)
      .replace(/DATABASE workflow_automation\b/, `DATABASE ${DATABASE}`),
  );
}

function follow(child: ChildProcess): ServiceRun {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    output: () => text,
    exited,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
