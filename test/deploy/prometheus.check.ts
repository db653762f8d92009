// `npm run check:metrics`: a real Prometheus reads the configuration, the rules and the dashboard's queries. It needs
// `prometheus` and `promtool` on the PATH (Debian: apt-get install prometheus), so it is no part of `npm test`.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../harness/processes/free-port.js';
import { parse, stringify } from 'yaml';
import { eventually } from '../../harness/timing/eventually.js';
import { alerts, dashboardQueries, DEPLOY, filledIn } from './metric-queries.js';
import { readQuestions } from './operators-manual.js';
import { startObservedStack, type ObservedStack } from './observed-stack.js';

const run = promisify(execFile);
const RULES = path.join(DEPLOY, 'prometheus');

interface Answer {
  status: string;
  data: { result: { value?: [number, string] }[]; activeTargets?: { health: string; lastError: string }[] };
}

describe('a real Prometheus', function () {
  this.timeout(240_000);
  let observed: ObservedStack;
  let prometheus: ChildProcess;
  let url: string;
  let folder: string;

  before(async () => {
    observed = await startObservedStack();
    folder = mkdtempSync(path.join(tmpdir(), 'prometheus-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    cpSync(path.join(RULES, 'alerts.yml'), path.join(folder, 'alerts.yml'));
    writeFileSync(path.join(folder, 'prometheus.yml'), configFor(observed));
    const args = [
      '--config.file',
      path.join(folder, 'prometheus.yml'),
      '--storage.tsdb.path',
      path.join(folder, 'data'),
    ];
    prometheus = spawn('prometheus', [...args, '--web.listen-address', `127.0.0.1:${port}`], { stdio: 'ignore' });
    await once(prometheus, 'spawn');
    await eventually(async () => (await ask('targets')).data.activeTargets!.every(({ health }) => health === 'up'), {
      timeoutMs: 60_000,
    });
  });
  after(async () => {
    prometheus?.kill('SIGTERM');
    if (prometheus?.exitCode === null) await once(prometheus, 'exit');
    await observed?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  async function ask(what: string, query = ''): Promise<Answer> {
    const response = await fetch(`${url}/api/v1/${what}${query && `?query=${encodeURIComponent(query)}`}`);
    return (await response.json()) as Answer;
  }

  it('takes the configuration and the rules, and each alert fires and keeps quiet where it should', async () => {
    await run('promtool', ['check', 'config', 'prometheus.yml'], { cwd: RULES });
    await run('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd: RULES });
  });

  it('answers every query of the dashboard with data', async () => {
    // Two rounds are needed to compute a rate.
    await observed.work();
    await observed.work();
    const left = new Map(dashboardQueries().map(({ name, expr }) => [expr, name]));
    await eventually(
      async () => {
        for (const [expr] of left) {
          const { status, data } = await ask('query', filledIn(expr, '2m'));
          assert.equal(status, 'success', expr);
          const values = data.result.map(({ value }) => Number(value?.[1]));
          if (values.some((value) => Number.isFinite(value))) left.delete(expr);
        }
        if (left.size === 0) return true;
        throw new Error(`no data: ${JSON.stringify([...left])}`);
      },
      { timeoutMs: 60_000, intervalMs: 1_000 },
    );
  });

  it('answers what docs/operate/runbook.md asks it', async () => {
    for (const { language, commands } of readQuestions()) {
      if (language !== 'promql') continue;
      for (const command of commands) assert.equal((await ask('query', command)).status, 'success', command);
    }
  });

  it('evaluates every alert on what the processes tell, and none that pages fires', async () => {
    for (const { name, expr, labels } of alerts()) {
      const { status, data } = await ask('query', expr);
      assert.equal(status, 'success', name);
      if (labels['severity'] === 'page') assert.deepEqual(data.result, [], name);
    }
  });
});

/** Our configuration with the stack's addresses and shorter intervals. */
function configFor({ stack, workerAddress }: ObservedStack): string {
  const config = parse(readFileSync(path.join(RULES, 'prometheus.yml'), 'utf8')) as {
    global: Record<string, string>;
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const addresses: Record<string, string> = { api: new URL(stack.apiUrl).host, worker: workerAddress };
  for (const job of config.scrape_configs) job.static_configs = [{ targets: [addresses[job.job_name]!] }];
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  return stringify(config);
}
