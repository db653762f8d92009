// `npm run test:pressure`: runs `npm test` beside busy loops, as on an overloaded machine. Tests that depend on timing
// fail here. Arguments are passed to the suite.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';

const PRIORITY = -5;
// The loop yields periodically to notice the end of its standard input, so that it ends with this process,
// however that ends.
const LOOP = `const spin = () => { for (const end = Date.now() + 100; Date.now() < end;); setImmediate(spin); };
process.stdin.resume().on('close', () => process.exit()); spin();`;

const processors = os.availableParallelism();
const loops = [];

/** Starts a loop that gets more processor time than the tests. Returns false if this user may not raise a priority. */
function startLoop() {
  const loop = spawn(process.execPath, ['-e', LOOP], { stdio: ['pipe', 'ignore', 'inherit'] });
  loops.push(loop);
  try {
    os.setPriority(loop.pid, PRIORITY);
    return true;
  } catch {
    return false;
  }
}

for (let count = 0; count < 2 * processors; count += 1) startLoop();
const isRaised = loops.every(({ pid }) => os.getPriority(pid) === PRIORITY);
if (!isRaised) for (let count = 0; count < processors; count += 1) startLoop();
const kind = isRaised ? `of priority ${PRIORITY}` : 'of usual priority (this user may not raise it)';
process.stdout.write(`Pressure: ${loops.length} busy loops ${kind} on ${processors} processors\n`);

// A separate process group, so that a signal also reaches the tests, which npm alone would leave running.
const tests = spawn('npm', ['test', '--', ...process.argv.slice(2)], { stdio: 'inherit', detached: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.kill(-Number(tests.pid), signal));
const [code] = await once(tests, 'exit');
const ended = loops.filter(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
for (const loop of loops) loop.stdin.end();
if (ended.length > 0) {
  process.stderr.write(`${ended.length} of the busy loops had ended before the tests\n`);
  process.exitCode = 1;
} else {
  process.exitCode = code ?? 1;
}
