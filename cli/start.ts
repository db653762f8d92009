// `npm start`: runs the whole service with everything it needs in the foreground.
import { setTimeout as pause } from 'node:timers/promises';
import { describeConsole } from './embedded/console-link.js';
import { Stack } from './embedded/supervisor.js';
import { describeFailure, exitWith, outliveReaders } from './exit.js';

/** API and worker drain within this time. A second signal within it is ignored; a later one kills all parts. */
const SECOND_SIGNAL_AFTER_MS = 15_000;

const stack = new Stack({
  env: process.env,
  report: (line) => process.stdout.write(`${line}\n`),
  warn: (line) => process.stderr.write(`${line}\n`),
});

outliveReaders();
let stopRequestedAt: number | undefined;

function requestStop(): void {
  if (stopRequestedAt !== undefined) {
    if (Date.now() - stopRequestedAt > SECOND_SIGNAL_AFTER_MS) stack.kill();
    return;
  }
  stopRequestedAt = Date.now();
  process.stdout.write('Stopping ...\n');
  void stack.stop().then(async () => {
    process.stdout.write('Stopped.\n');
    await pause(0);
    process.exit();
  }, exitWith);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, requestStop);
// Programs that start a stack pass this flag, so that the stack ends with them, however they end.
if (process.argv.includes('--until-stdin-closes')) process.stdin.resume().once('close', requestStop);
process.once('uncaughtException', (error) => {
  process.exitCode = 1;
  process.stderr.write(`${describeFailure(error)}\n`);
  requestStop();
});

try {
  const file = await stack.start();
  const { api_url: api, temporal_ui_url: ui } = file;
  process.stdout.write(`Ready: API ${api}, Temporal UI ${ui || '(not known)'}. Ctrl-C stops everything.\n`);
  process.stdout.write(`Console: ${await describeConsole(file, process.env)}\n`);
} catch (error) {
  if (stopRequestedAt === undefined) exitWith(error);
}
