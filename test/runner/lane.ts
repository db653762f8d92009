// One lane of the runner: a process that runs test files with mocha, one after the other, as the runner requests them.
import { createRequire } from 'node:module';
import Mocha from 'mocha';
import type * as SharedStack from '../support/shared-stack.js';
import { childrenOf, withDescendants } from '../../harness/processes/family.js';
import { cpuSeconds } from '../../harness/processes/figures.js';
import { signalAll } from '../../harness/processes/signals.js';
import { createFileReporter } from './file-reporter.js';
import type { FileResult, FromLane, ToLane } from './messages.js';

const TEST_TIMEOUT_MS = 120_000;
/** Loads modules by `require`, as mocha loads test files. An import would load a second copy of the module. */
const loadAsTestsDo = createRequire(import.meta.url);
let isEnding = false;

process.on('message', (message: ToLane) => {
  if (message.type === 'run') void runFile(message).then((result) => send({ type: 'ran', ...result }));
  if (message.type === 'end') void end(message.leakAfterMs);
});
// If the runner has ended, nobody reads the results of this lane.
process.once('disconnect', () => isEnding || abort());
send({ type: 'ready' });

async function runFile({ file, grep }: { file: string; grep: string | undefined }): Promise<FileResult> {
  const cpuBefore = cpuSeconds(process.pid, 'ended');
  const lines: string[] = [];
  const mocha = new Mocha({ timeout: TEST_TIMEOUT_MS, reporter: createFileReporter(lines), ...(grep && { grep }) });
  const counts = await runOn(mocha, file).catch((error: unknown) => {
    lines.push(`it could not be loaded: ${error instanceof Error ? error.stack : String(error)}`);
    return { passes: 0, failures: 1, pending: 0 };
  });
  const rssMb = process.memoryUsage.rss() / 2 ** 20;
  return {
    file,
    ...counts,
    cpuMs: (cpuSeconds(process.pid, 'ended') - cpuBefore) * 1000,
    rssMb,
    output: lines.join('\n'),
  };
}

async function runOn(mocha: Mocha, file: string): Promise<Pick<FileResult, 'passes' | 'failures' | 'pending'>> {
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  const { stats } = await new Promise<Mocha.Runner>((resolve) => {
    const runner = mocha.run(() => resolve(runner));
  });
  const { passes, failures, pending } = stats!;
  // Otherwise this instance of mocha would keep listening for uncaught errors while the next files run.
  mocha.dispose();
  return { passes, failures, pending };
}

/**
 * Ends the lane. Anything that keeps the process alive after its last file is a leak: it fails the run instead of
 * hanging it.
 */
async function end(leakAfterMs: number): Promise<void> {
  isEnding = true;
  await (loadAsTestsDo('../support/shared-stack.ts') as typeof SharedStack).leaveSharedStack();
  process.disconnect();
  setTimeout(() => {
    process.stderr.write(`Still open after the tests: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  }, leakAfterMs).unref();
}

/** Ends the processes that the tests have started, because most of them would outlive this one. */
function abort(): void {
  const started = childrenOf(process.pid).map(({ pid }) => pid);
  signalAll(started, 'SIGTERM');
  // A test may have frozen some of them.
  signalAll(
    started.flatMap((pid) => withDescendants(pid)),
    'SIGCONT',
  );
  process.exit(1);
}

function send(message: FromLane): void {
  process.send!(message);
}
