// `npm run test:pressure`: `npm test` beside busy loops, as on a machine that has much else to do. A test that expects
// something within a time, or before a time is over, fails here. Arguments go to the suite.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';

const PRIORITY = -5;
// It gives way for a moment, so that it notices the end of its standard input: it ends with this process, however that ends.
const LOOP = `const spin = () => { for (const end = Date.now() + 100; Date.now() < end;); setImmediate(spin); };
process.stdin.resume().on('close', () => process.exit()); spin();`;

const processors = os.availableParallelism();
const loops = [];

/** A loop that gets more of a processor than the tests; false where this user may not raise a priority. */
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

// A group of its own, so that a signal reaches the tests and not npm alone, which would leave them running.
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
