// Several builds of the worker beside each other on one stack, and an operator who moves runs between them.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historiesOfRun } from '../../cli/replay/histories.js';
import type { Build } from '../../deployments/worker-builds.js';
import { bundleWith } from './doctored-bundle.js';
import { eventually } from '../../harness/timing/eventually.js';
import { withTemporal } from './inspect.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startWorkerProcess, type WorkerProcess } from '../../harness/stack/worker-process.js';
import { OWN_BUILD } from '../../harness/stack/supervisor.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const DEPLOYMENT = 'runs';

/**
 * The server fails a workflow task with this cause if the task would end the run and an event has arrived meanwhile. It
 * then repeats the task. This is no failure of the build.
 */
const UNHANDLED_COMMAND = 1; // temporal.api.enums.v1.WorkflowTaskFailedCause

export interface OtherBuild {
  /** The folder `dist` of the build. */
  dist: string;
  remove: () => void;
}

/**
 * Copies the build and adds a command at the start of its run workflow, so that neither build can continue runs of the
 * other.
 */
export function makeOtherBuild(): OtherBuild {
  const folder = mkdtempSync(path.join(tmpdir(), 'other-build-'));
  const dist = path.join(folder, 'dist');
  cpSync(OWN_BUILD, dist, { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const first = 'this.#resume(this.#root);';
  const sdk = '__webpack_require__("./node_modules/@temporalio/workflow/lib/index.js")';
  const more = `${sdk}.upsertSearchAttributes([{ key: { name: 'RunState', type: 'KEYWORD' }, value: 'running' }]);`;
  const code = bundleWith([{ file: 'temporal-workflows/graph-run.ts', find: first, replace: `${more}\n${first}` }]);
  writeFileSync(path.join(dist, 'workflow-bundle.js'), code);
  return { dist, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export class WorkerBuilds {
  readonly #stack: TestStack;
  readonly #cli: string;
  readonly #workers = new Map<string, WorkerProcess>();

  constructor(stack: TestStack, cli: string) {
    this.#stack = stack;
    this.#cli = cli;
  }

  async start(buildId: string, options: { dist?: string; env?: Record<string, string> } = {}): Promise<WorkerProcess> {
    const env = {
      WORKER_VERSIONING: 'true',
      WORKER_DEPLOYMENT_NAME: DEPLOYMENT,
      WORKER_BUILD_ID: buildId,
      ...options.env,
    };
    const worker = await startWorkerProcess(this.#stack, { ...options, env });
    this.#workers.set(buildId, worker);
    return worker;
  }

  /** Returns the exit code. */
  async stop(buildId: string): Promise<number | null | undefined> {
    const code = await this.#workers.get(buildId)?.stop();
    this.#workers.delete(buildId);
    return code;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#workers.keys()].map((buildId) => this.stop(buildId)));
  }

  /** Runs `temporal ...`, as in docs/operate/upgrade.md; the answer is its JSON. */
  async operate(...args: string[]): Promise<Record<string, unknown>> {
    const server = ['--address', this.#stack.stack.temporal_address, '--output', 'json'];
    const { stdout } = await promisify(execFile)(this.#cli, [...args, ...server]);
    return JSON.parse(stdout || '{}') as Record<string, unknown>;
  }

  /** Repeats the command until it succeeds, because the server knows a build only after its worker's first poll. */
  async makeCurrent(buildId: string): Promise<Build[]> {
    return eventually(() => this.admin(['set-current', buildId]));
  }

  /** Runs `npm run --silent admin -- deployment ...`. Rejects with what the command says on standard error. */
  async admin(args: string[], deployment = DEPLOYMENT): Promise<Build[]> {
    const env = { PATH: process.env['PATH'], DATA_DIR: this.#stack.dataDir, WORKER_DEPLOYMENT_NAME: deployment };
    const command = [path.join(OWN_BUILD, 'cli/admin.js'), 'deployment', ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env }).catch(
      ({ stderr }: { stderr: string }) => Promise.reject(new Error(stderr.trim())),
    );
    return JSON.parse(stdout) as Build[];
  }

  /** `of`: one run, or the runs that match a query. */
  async move(of: ['--workflow-id', string] | ['--query', string], buildId: string): Promise<void> {
    const build = ['--versioning-override-deployment-name', DEPLOYMENT, '--versioning-override-build-id', buildId];
    const yes = of[0] === '--query' ? ['--yes'] : [];
    await this.operate(
      'workflow',
      'update-options',
      ...of,
      '--versioning-override-behavior',
      'pinned',
      ...build,
      ...yes,
    );
  }

  /**
   * The builds that executed the run's workflow tasks, for each execution, the oldest first; `unversioned` if a task
   * names none.
   */
  async of(runId: string): Promise<string[][]> {
    const executions = await this.#executions(runId);
    return executions.map((events) => {
      const tasks = events.flatMap((event) => event.workflowTaskCompletedEventAttributes ?? []);
      return [...new Set(tasks.map(({ deploymentVersion }) => deploymentVersion?.buildId ?? 'unversioned'))];
    });
  }

  /** The number of workflow tasks of the run that a worker reported as failed. */
  async failedTasks(runId: string): Promise<number> {
    const events = (await this.#executions(runId)).flat();
    const failed = events.flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
    return failed.filter(({ cause }) => Number(cause) !== UNHANDLED_COMMAND).length;
  }

  #executions(runId: string): Promise<NonNullable<History['events']>[]> {
    return withTemporal(this.#stack, async (client) => {
      const executions: NonNullable<History['events']>[] = [];
      for await (const { history } of historiesOfRun(client, runId)) executions.unshift((history as History).events!);
      return executions;
    });
  }
}
