// Everything around a service that is lost and restored: the servers that its nodes call, its backups, and the commands
// of the operator.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { claimPort } from '../../cli/embedded/ports.js';
import { findTemporalBinary } from '../../cli/embedded/temporal-binary.js';
import { createTemporalServer } from '../../cli/embedded/temporal-server.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeModelProvider, type FakeModelProvider } from '../../harness/target/fake-model-provider.js';
import { startStack, TEST_PRICES, type TestStack } from '../../harness/stack/stack.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { createGate, type Gate } from '../../harness/timing/gate.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { restore, type Backups } from './snapshots.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');
const run = promisify(execFile);

export class World {
  readonly target: HttpTarget;
  readonly tools: ToolServer;
  readonly model: FakeModelProvider;
  /** The folder with the backups and the secrets of the lost service. */
  readonly home: string;
  readonly #cli: string;
  readonly #gates = new Map<string, Gate>();

  private constructor(target: HttpTarget, tools: ToolServer, model: FakeModelProvider, cli: string) {
    [this.target, this.tools, this.model, this.#cli] = [target, tools, model, cli];
    this.home = makeDataDir();
    const provider = { name: 'fake', base_url: model.url, models: [{ id: '*', ...TEST_PRICES }] };
    writeFileSync(this.#providersFile, JSON.stringify({ providers: [provider] }));
  }

  static async create(): Promise<World> {
    const { signal } = new AbortController();
    const configured = process.env['TEMPORAL_CLI'];
    const cli = await findTemporalBinary({ configured, env: process.env, report: () => undefined, signal });
    return new World(await startHttpTarget(), await startToolServer(), await startFakeModelProvider(), cli);
  }

  async close(): Promise<void> {
    await Promise.all([this.target.close(), this.tools.close(), this.model.close()]);
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Makes the target answer each call of this path once it is released. Returns its address. */
  hold(name: string): string {
    const gate = createGate();
    this.#gates.set(name, gate);
    this.target.on(`/held/${name}`, { until: gate.opened, body: `answer to /held/${name}` });
    return `${this.target.url}/held/${name}`;
  }

  release(name: string): void {
    this.#gates.get(name)!.open();
  }

  get #providersFile(): string {
    return path.join(this.home, 'providers.json');
  }

  start(dataDir: string): Promise<TestStack> {
    // EXECUTION stays `visible`, so each call has its own activity. If calls shared an activity, the duration of the
    // first call would decide whether all of them are repeated.
    const env = { MODEL_PROVIDERS_FILE: this.#providersFile };
    return startStack({ dataDir, env });
  }

  /**
   * Starts the service on its backups and calls `use`. `before` is called while Temporal runs and neither the API nor a
   * worker does.
   */
  async restored<T>(
    backups: Backups,
    use: (stack: TestStack) => Promise<T>,
    before?: (operate: Operate) => Promise<void>,
  ): Promise<T> {
    const dataDir = restore(backups, this.home);
    try {
      if (before !== undefined) await this.#withTemporalAlone(dataDir, before);
      const stack = await this.start(dataDir);
      try {
        return await use(stack);
      } catch (error) {
        throw new Error(`${String(error)}\n${stack.logs()}`, { cause: error });
      } finally {
        await stack.stop();
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  /** Runs `npm run admin -- ...`. */
  async admin(stack: TestStack, ...args: string[]): Promise<Record<string, unknown>> {
    const env = { PATH: process.env['PATH'], DATA_DIR: stack.dataDir };
    return JSON.parse((await run(process.execPath, [ADMIN, ...args], { env })).stdout) as Record<string, unknown>;
  }

  /** Runs `temporal ...`; the answer is its JSON. */
  operate(address: string): Operate {
    return async (...args) => {
      const { stdout } = await run(this.#cli, [...args, '--address', address, '--output', 'json']);
      return JSON.parse(stdout || '{}') as Record<string, unknown>;
    };
  }

  async #withTemporalAlone(dataDir: string, use: (operate: Operate) => Promise<void>): Promise<void> {
    const free = () => claimPort({ port: 0, host: '127.0.0.1', variable: 'TEMPORAL_PORT' });
    const [port, uiPort] = [await free(), await free()];
    const given = { binary: this.#cli, dataDir, port, uiPort, namespace: 'default', env: process.env };
    const { command, isReady, address } = createTemporalServer(given);
    const child = spawn(command.file, command.args, { env: command.env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    try {
      await eventually(isReady, { timeoutMs: 60_000 });
      await use(this.operate(address));
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
  }
}

export type Operate = (...args: string[]) => Promise<Record<string, unknown>>;

/** The number of runs that are open in Temporal. */
export async function countOpen(operate: Operate): Promise<number> {
  const { count } = await operate('workflow', 'count', '--query', "ExecutionStatus = 'Running'");
  return Number(count ?? 0);
}
