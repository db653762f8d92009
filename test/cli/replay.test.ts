import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import { historiesByQuery } from '../../cli/replay/histories.js';
import { historyFiles } from '../replay/history-files.js';
import { encryptedHistory } from '../support/encrypted-history.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ENTRY = path.resolve(import.meta.dirname, '../../dist/cli/replay.js');
const recording = historyFiles().find(({ scenario }) => scenario === 'http')!.path;

async function replay(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [ENTRY, ...args], { env: { PATH: process.env['PATH'], ...env } });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => (output[name] += chunk));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output, lines: output.stdout.trim().split('\n') };
}

describe('npm run replay', function () {
  this.timeout(120_000);
  let folder: string;

  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'replay-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('exits 0 when the build would go on with every history', async () => {
    const { code, lines, stderr } = await replay(['--file', recording, recording]);
    assert.equal(stderr, '');
    assert.equal(lines.length, 3);
    assert.match(lines[0]!, /^ok {5}[\da-f-]{36} [\da-f-]{36}$/);
    assert.equal(lines[2], '2 replayed, 0 broken');
    assert.equal(code, 0);
  });

  it('names the run and the reason, and exits 1, when it would not with one of them', async () => {
    const broken = path.join(folder, 'broken.json');
    writeFileSync(broken, readFileSync(recording, 'utf8').replaceAll('"httpRequest"', '"httpRequestOfOld"'));
    const { code, lines } = await replay(['--file', broken, recording]);
    assert.match(lines[0]!, /^BROKEN [\da-f-]{36} [\da-f-]{36}: .*Nondeterminism.*httpRequestOfOld/);
    assert.match(lines[1]!, /^ok /);
    assert.equal(lines[2], '2 replayed, 1 broken');
    assert.equal(code, 1);
  });

  it('decrypts histories with the keys of TEMPORAL_PAYLOAD_KEY, and names the variable where none fits', async () => {
    const [key, other] = [randomBytes(32), randomBytes(32)];
    const file = path.join(folder, 'encrypted.json');
    writeFileSync(file, await encryptedHistory(readFileSync(recording, 'utf8'), key));
    const keysOf = (...keys: Buffer[]) => keys.map((one) => one.toString('base64')).join(',');

    const whole = await replay(['--file', file], { TEMPORAL_PAYLOAD_KEY: keysOf(other, key) });
    assert.deepEqual([whole.lines.at(-1), whole.code], ['1 replayed, 0 broken', 0], whole.lines[0]);
    for (const env of [{}, { TEMPORAL_PAYLOAD_KEY: keysOf(other) }]) {
      const { code, lines } = await replay(['--file', file], env);
      assert.match(lines[0]!, /^BROKEN [\da-f-]{36} [\da-f-]{36}: .*TEMPORAL_PAYLOAD_KEY: /);
      assert.equal(code, 1);
    }
    const wrong = await replay(['--file', file], { TEMPORAL_PAYLOAD_KEY: 'short' });
    assert.equal(wrong.stderr, 'TEMPORAL_PAYLOAD_KEY: each key must be 32 bytes in base64.\n');
  });

  it('replays all runs that a query finds, and only with --limit no more than that many', async () => {
    const { stdout } = await replay(['--help']);
    assert.match(stdout, /--limit <number>/);
    assert.doesNotMatch(stdout, /default:/);
    const found = Array.from({ length: 1_001 }, (_, run) => ({ workflowId: `run-${run}`, runId: 'first' }));
    const workflow = { list: () => found, getHandle: () => ({ fetchHistory: () => Promise.resolve({}) }) };
    const countOf = async (limit?: number): Promise<number> => {
      let count = 0;
      for await (const _ of historiesByQuery({ workflow } as unknown as Client, '', limit)) count++;
      return count;
    };
    assert.deepEqual([await countOf(), await countOf(1_000)], [1_001, 1_000]);
  });

  it('says in one sentence what it cannot use', async () => {
    const nothing = path.join(folder, 'nothing.json');
    writeFileSync(nothing, '{"events":[]}');
    const wrong: [string[], RegExp, NodeJS.ProcessEnv?][] = [
      [[], /^Nothing to replay: /],
      [['--file', nothing], /is not a workflow history/],
      [['--file', path.join(folder, 'absent.json')], /there is no such file\.$/],
      [['--file', folder], /cannot be read \(EISDIR: .*\)\.$/],
      [['--query', '', '--limit', '0'], /A whole number from 1\.$/],
      [['--query', ''], /^Temporal does not answer at 127\.0\.0\.1:1/, { TEMPORAL_ADDRESS: '127.0.0.1:1' }],
    ];
    for (const [args, message, env] of wrong) {
      const { code, stdout, stderr } = await replay(args, env);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr.trim(), message);
      assert.equal(stderr.trim().includes('\n'), false, stderr);
      assert.equal(stdout, '');
    }
  });

  describe('on a server', () => {
    let stack: TestStack;
    let env: NodeJS.ProcessEnv;

    before(async () => {
      stack = await sharedStack();
      env = { TEMPORAL_ADDRESS: stack.stack.temporal_address };
    });

    it('replays runs that are in flight and runs that have ended, by id and by query', async () => {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const target = await startHttpTarget();
      try {
        const project = await api.createProject();
        const start = async (nodes: ReturnType<typeof trigger>[]) => {
          link(nodes[0]!, nodes.slice(1));
          return (await api.run(await api.createWorkflow(project, drawing(nodes)))).data.id;
        };
        const ended = await start([trigger()]);
        await api.pollToEnd(ended);
        const inFlight = await start([trigger(), http(`${target.url}/delay/60000/replayed`)]);
        await eventually(() => target.requestsTo('/delay/60000/replayed').length === 1);

        const byId = await replay(['--workflow-id', ended, inFlight], env);
        assert.deepEqual(
          byId.lines.map((line) => line.split(' ').filter(Boolean).slice(0, 2)),
          [
            ['ok', ended],
            ['ok', inFlight],
            ['2', 'replayed,'],
          ],
        );
        const byQuery = await eventually(async () => {
          const found = await replay(['--query', `ProjectId = '${project}'`], env);
          return found.lines.length === 3 && found;
        });
        assert.deepEqual(
          byQuery.lines.map((line) => line.split(/ +/)[1]!).toSorted(),
          [ended, inFlight, 'replayed,'].toSorted(),
        );
        assert.equal(byQuery.code, 0);
        const newest = await replay(['--query', `ProjectId = '${project}'`, '--limit', '1'], env);
        assert.match(newest.lines[0]!, new RegExp(`^ok +${inFlight} `));
        assert.equal(newest.lines[1], '1 replayed, 0 broken');
      } finally {
        await target.close();
      }
    });

    it('says so when there is no such run, or when the filter is wrong', async () => {
      const absent = await replay(['--workflow-id', 'of-nobody'], env);
      assert.equal(absent.stderr.trim(), 'of-nobody: Temporal has no such run.');
      assert.equal(absent.code, 1);
      const wrong = await replay(['--query', 'Colour = 3'], env);
      assert.match(wrong.stderr, /^Temporal: .*Colour/);
      assert.equal(wrong.stderr.trim().includes('\n'), false, wrong.stderr);
      assert.equal(wrong.code, 1);
    });
  });
});
