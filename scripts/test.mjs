// `npm test`: the whole suite, then the suite of the run workflow once more with the workers' cache off, so that every
// step of every run is a replay of all steps before it. Arguments go to mocha (`npm test -- --grep cancel`). The last
// line is the sum of both, "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const mocha = path.join(path.dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin/mocha.js');
const folder = mkdtempSync(path.join(tmpdir(), 'test-totals-'));
const rounds = [
  { title: 'The whole suite', config: '.mocharc.json', env: {} },
  {
    title: 'The run workflow with the cache of workflows off',
    config: '.mocharc.cache-off.json',
    env: { WORKER_CACHED_WORKFLOWS: '0' },
  },
];

let [passed, failed] = [0, 0];
for (const { title, config, env } of rounds) {
  process.stdout.write(`\n${title}\n`);
  const { passes, failures } = runMocha(config, env);
  passed += passes;
  failed += failures;
}
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function runMocha(config, env) {
  const totals = path.join(folder, `${config}.totals`);
  const args = [mocha, '--config', config, '--reporter-option', `totals=${totals}`, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const { passes, failures } = existsSync(totals)
    ? JSON.parse(readFileSync(totals, 'utf8'))
    : { passes: 0, failures: 0 };
  // It ended badly without a failed test: it crashed, or something was left open after the last one.
  return { passes, failures: status === 0 || failures > 0 ? failures : 1 };
}
