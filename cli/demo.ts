// `npm run demo`: starts the embedded stack, runs the sample workflows through the public API and shows their results.
// `-- --keep` keeps the stack running until Ctrl-C and prints a link that signs in to its console. A stack that already
// runs in DATA_DIR is used unchanged.
import { once } from 'node:events';
import path from 'node:path';
import { Command } from 'commander';
import { parseEnvironment } from '../config/environment.js';
import { addServices } from './demo/add-services.js';
import { createDemoApi } from './demo/demo-api.js';
import { runSample, type SampleRun } from './demo/run-sample.js';
import { createTerminal } from './demo/terminal.js';
import { tailLog } from './embedded/child-log.js';
import { describeConsole } from './embedded/console-link.js';
import { isStackAlive } from './embedded/data-directory.js';
import { readStackFile, type StackFile } from './embedded/stack-file.js';
import { StartError } from './embedded/start-error.js';
import { Stack } from './embedded/supervisor.js';
import { exitWith, outliveReaders } from './exit.js';
import { SANDBOX_MODEL } from './sandbox/model-provider.js';
import { readSamplesFile } from './samples/samples-file.js';
import { demoModel, loadSamples, placeSample } from './samples/samples.js';
import { startSandboxTargets } from './sandbox/targets.js';

const { keep } = new Command('demo')
  .description('Runs the sample workflows on a stack of its own')
  .option('--keep', 'leave the stack running until Ctrl-C')
  .parse()
  .opts<{ keep?: boolean }>();
const terminal = createTerminal(process.stdout, process.env);
// The demo prints its links, so it uses free ports unless ports are configured.
const env = { PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0', ...nonEmpty(process.env) };
const interrupted = new AbortController();
let own: Stack | undefined;

outliveReaders();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt());

try {
  const environment = parseEnvironment(env);
  const running = isStackAlive(environment.dataDir) ? readStackFile(environment.dataDir) : undefined;
  if (running !== undefined) terminal.line(`Using the stack that runs in ${path.resolve(environment.dataDir)}`);
  const stack = running ?? (await startOwn());
  // The stack writes its model to this file. A stack that runs already may have been started with other variables.
  const model = readSamplesFile(environment.dataDir)?.settings.at(-1)?.model ?? demoModel(environment);
  try {
    await showSamples(stack, model);
  } catch (error) {
    const logs = ['api', 'worker'].map((name) => tailLog(path.join(environment.dataDir, 'logs', `${name}.log`)));
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`The demo failed: ${reason}\n${logs.join('\n')}`, { cause: error });
  }
} catch (error) {
  await own?.stop();
  if (!interrupted.signal.aborted) exitWith(error);
}
await own?.stop();
process.exit(interrupted.signal.aborted && keep !== true ? 130 : 0);

async function startOwn(): Promise<StackFile> {
  terminal.line(terminal.bold('Starting everything on this machine'));
  const indented = (line: string): void => terminal.line(`  ${line}`);
  own = new Stack({ env, report: indented, warn: (line) => terminal.line(`  ${terminal.yellow(line)}`) });
  return own.start();
}

async function showSamples(stack: StackFile, model: string): Promise<void> {
  const api = createDemoApi(stack.api_url, stack.api_key);
  const targets = await startSandboxTargets();
  const uiLink = (runId: string): string =>
    `${stack.temporal_ui_url}/namespaces/${stack.temporal_namespace}/workflows/${runId}`;
  try {
    const project = await api.createProject('Demo');
    const made = new Map<string, number>();
    const services = new Map<string, string>();
    let first: SampleRun | undefined;
    for (const loaded of loadSamples()) {
      const before = await addServices(api, { project, baseUrl: targets.url }, loaded, services);
      const sample = placeSample(loaded, { base_url: targets.url, model }, made, services);
      const stage = { api, terminal, uiLink, isStandIn: model === SANDBOX_MODEL };
      const run = await runSample(stage, project, sample, before);
      made.set(sample.name, run.workflowId);
      first ??= run;
    }
    showNext(stack, first!, targets.url);
    if (keep === true) await untilInterrupted(stack);
  } finally {
    await targets.close();
  }
}

function showNext(stack: StackFile, { workflowId, runId }: SampleRun, baseUrl: string): void {
  terminal.line(`\n${terminal.bold('What to try next')}`);
  if (keep !== true && own !== undefined) {
    terminal.line(
      '  npm run demo -- --keep    the same, and it stays up: for the console, for your own requests, for the Temporal UI',
    );
    terminal.line(
      '  npm start                 the service in the foreground, with a link that signs in to the console',
    );
    return;
  }
  const header = `-H 'X-Api-Key: ${stack.api_key}'`;
  const input = `-d '{"base_url": "${baseUrl}"}'`;
  // The sample targets run in this process and end with it, so the command only works with --keep.
  if (keep === true) terminal.line(`  curl ${header} ${input} ${stack.api_url}/api/v1/workflows/${workflowId}/run/`);
  terminal.line(`  curl ${header} '${stack.api_url}/api/v1/workflows/workflow_result/?id=${runId}'`);
  terminal.line(`  Temporal UI: ${stack.temporal_ui_url}`);
}

async function untilInterrupted(stack: StackFile): Promise<void> {
  const link = await describeConsole(stack, env);
  if (interrupted.signal.aborted) return;
  terminal.line('\nRunning until Ctrl-C.');
  terminal.line(`Console: ${link}`);
  const keepAlive = setInterval(() => undefined, 60_000);
  await once(interrupted.signal, 'abort');
  clearInterval(keepAlive);
}

function interrupt(): void {
  interrupted.abort();
  if (own === undefined) process.exit(keep === true ? 0 : 130);
  // The running step then fails or the wait for Ctrl-C ends, and the top-level code above stops the stack and exits.
  void own.stop();
}

function nonEmpty(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}
