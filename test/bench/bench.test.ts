import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import type { Results } from '../../bench/results.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BENCH = path.join(ROOT, 'dist/bench/main.js');

describe('npm run bench', function () {
  this.timeout(480_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'bench-test-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  // The benchmark is killed before the test times out, so that its processes end too.
  const limits = { timeout: 460_000, killSignal: 'SIGKILL' } as const;
  const bench = (...args: string[]) => promisify(execFile)(process.execPath, [BENCH, ...args], limits);
  const measured = async (...args: string[]): Promise<Results & { stdout: string }> => {
    const json = path.join(folder, 'results.json');
    const short = ['--quick', '--seconds', '0.2', '--variants', 'visible', '--json', json];
    const { stdout } = await bench(...short, ...args);
    return { ...(JSON.parse(readFileSync(json, 'utf8')) as Results), stdout };
  };

  it('measures the service and the twin in turn, and says what it found in a table and as JSON', async () => {
    const { throughput, stdout } = await measured('--at-once', '1,2', '--only', 'diamonds');
    const subjects = ['visible', 'twin-normal', 'twin-eager', 'twin-keeping'];
    assert.deepEqual(
      throughput.map(({ subject, lanes, pollMode }) => `${subject} ${lanes} ${pollMode}`),
      subjects.flatMap((subject) => [`${subject} 1 10`, `${subject} 2 50`, `${subject} 2 500`]),
    );
    for (const { subject, jobs, perSecond, p50Ms, p99Ms, history, cpuMsPerRun, calls } of throughput) {
      assert.equal(calls, 4);
      assert.ok(jobs > 0 && perSecond[0]! > 0 && p99Ms >= p50Ms[0]! && p50Ms[0]! > 0);
      // Each run makes four calls in normal activities, with six events per call, and has some events of its own.
      assert.ok(history!.events >= 4 * 6 && history!.events < 4 * 6 + 12, `${subject}: ${history!.events} events`);
      assert.ok(history!.workflowTasks >= 4);
      assert.ok(Object.values(cpuMsPerRun).every(([ms]) => Number.isFinite(ms) && ms! >= 0));
    }
    assert.match(stdout, /visible, diamonds, one at a time: p50 divided by the twin's/);
  });

  it('says what each request, run, node and item costs, of the service and of the twins', async () => {
    const { costs, stdout } = await measured('--only', 'costs');
    const ofTwins = ['a poll', 'a start', 'a start and its execution', 'a node', 'an item'];
    for (const twin of ['twin-normal', 'twin-keeping']) {
      const measuredOfTwin = costs.filter(({ subject }) => subject === twin).map(({ what }) => what);
      assert.deepEqual(measuredOfTwin, ofTwins);
    }
    const ours = costs.filter(({ subject }) => subject === 'visible');
    assert.equal(ours.length, 13);
    for (const { what, cpuMs } of ours) {
      assert.ok(
        Object.values(cpuMs).every((rounds) => rounds.length === 1 && Number.isFinite(rounds[0])),
        what,
      );
      assert.match(stdout, new RegExp(`^${what.replaceAll(/[()]/g, String.raw`\$&`)} +visible `, 'm'));
    }
    assert.match(stdout, /visible, an unchanged poll \(304\): CPU of the API and PostgreSQL .*<= 0.45 ms/);
  });

  describe('beside another service', () => {
    let peer: Server;
    let url: string;
    let targetPort: number;
    /** The number of calls that the peer makes for each POST, one after the other. */
    let callsOfPeer = 5;

    before(async () => {
      targetPort = await getPort({ host: '127.0.0.1' });
      peer = createServer((incoming, answer) => {
        void (async () => {
          for (let call = 0; call < callsOfPeer; call++) {
            const called = await fetch(`http://127.0.0.1:${targetPort}/?by=peer`, { method: 'POST', body: '{}' });
            await called.text();
          }
          answer.end('done');
        })();
        incoming.resume();
      });
      await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}/job`;
    });
    after(() => peer.close());

    const beside = () =>
      measured('--at-once', '1,2', '--target-port', String(targetPort), '--beside', `chain-5=${url}`);

    it('makes the same calls as the other service, whose clients wait as its own do, and names the call', async () => {
      callsOfPeer = 5;
      const { throughput, stdout } = await beside();
      assert.deepEqual(
        throughput.map(({ subject, lanes, pollMode, call }) => [subject, lanes, pollMode, call]),
        ['visible', `beside ${url}`].flatMap((subject) =>
          [1, 2].map((lanes) => [subject, lanes, 'waits', 'POST /?by=peer']),
        ),
      );
      assert.match(stdout, /visible beside http\S+, chain-5 \(5 times POST \/\?by=peer\), one at a time, .*<= 3 x/);
    });

    it('refuses what does not make the calls of the row', async () => {
      callsOfPeer = 4;
      await assert.rejects(beside(), /must make 5 equal calls .* seen: 4: POST \/\?by=peer/);
    });
  });

  it('compares two builds in turn', async () => {
    const { throughput, stdout } = await measured('--at-once', '2', '--only', 'branch', '--against', ROOT);
    assert.deepEqual(
      throughput.map(({ subject, row }) => `${subject} ${row}`),
      ['visible branch', 'visible branch', 'visible-other branch', 'visible-other branch'],
    );
    assert.match(stdout, /branch +visible +visible-other +polls every 500 ms +2 /);
  });

  it('refuses a row that it does not know, and a checkout without a build, before it starts anything', async () => {
    await assert.rejects(bench('--only', 'chain-6'), /chain-6 is none of chain-5/);
    await assert.rejects(bench('--against', folder), /holds no build/);
    await assert.rejects(bench('--beside', 'branch=http://127.0.0.1/'), /ROW=URL with one of chain-5/);
  });
});
