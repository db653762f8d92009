import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { readResultPieces } from '../../../db/nodes/result-pieces.js';
import type { NodeKey } from '../../../graph/plan.js';
import { cpuSeconds } from '../../../harness/processes/figures.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { assertCostRatio, cpuMillisecondsUntil } from '../../support/cpu-time.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { nodeEnd, openRun } from '../open-run.js';

const MB = 1_000_000;
const READER = 'reads large texts';

describe('large texts', function () {
  this.timeout(180_000);
  let db: Database;
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
    const url = stack.stack.database_url;
    db = createDatabase({ url, poolMax: 10, applicationName: READER, onError: () => undefined });
  });
  after(() => db.destroy());

  async function store(bytes: number): Promise<{ key: NodeKey; text: string }> {
    const run = await openRun(db, ['http']);
    const line = () => `${randomBytes(600).toString('base64')} grüße 漢字 🙂\\n`;
    const lines = Array.from({ length: 64 }, line).join('');
    const text = `{"content":"${lines.repeat(Math.ceil(bytes / Buffer.byteLength(lines)))}"}`;
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'http', { result: text }));
    return { key: { runId: run.id, path: '', nodeId: run.nodeIds[0]! }, text };
  }

  async function wholeOf(pieces: AsyncIterable<string>): Promise<string> {
    let text = '';
    for await (const piece of pieces) text += piece;
    return text;
  }

  /** The number of connections of this test that are idle in a transaction. */
  async function heldConnections(): Promise<number> {
    const rows = await queryDatabase<{ held: number }>(
      stack,
      `SELECT count(*)::integer AS held FROM pg_stat_activity WHERE application_name = $1 AND state LIKE 'idle in%'`,
      [READER],
    );
    return rows[0]!.held;
  }

  async function backendSeconds(): Promise<number> {
    const rows = await queryDatabase<{ pid: number }>(
      stack,
      'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
      [READER],
    );
    return rows.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  }

  it('are read in a time that grows with their bytes: 38 MB take at most 12 times as long as 4 MB', async () => {
    const [small, large] = [await store(4 * MB), await store(38 * MB)];
    const read = async ({ key, text }: typeof small): Promise<void> =>
      assert.equal((await wholeOf(readResultPieces(db, key))) === text, true, 'to the character');
    /** Milliseconds of processor time, of this process and of its connections. */
    const costOf = async (stored: typeof small): Promise<number> => {
      const times = stored === small ? 10 : 1;
      const before = await backendSeconds();
      const ownMs = await cpuMillisecondsUntil(async () => {
        for (let time = 0; time < times; time += 1) await read(stored);
      });
      return (ownMs + 1000 * ((await backendSeconds()) - before)) / times;
    };
    await assertCostRatio(costOf, { small, large, limit: 12 });
  });

  it('hold no connection for a reader that is slow, who gets the rest when he comes back', async () => {
    const { key, text } = await store(2 * MB);
    const pieces = readResultPieces(db, key);
    let read = '';
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) break;
      read += value;
      await eventually(async () => (await heldConnections()) === 0);
    }
    assert.equal(read === text, true);
  });

  it('hold none for a reader that leaves', async () => {
    const { key } = await store(2 * MB);
    const pieces = readResultPieces(db, key);
    await pieces.next();
    await pieces.return(undefined);
    assert.equal(await heldConnections(), 0);
  });

  it('hold four connections at most, however many read', async () => {
    const { key, text } = await store(2 * MB);
    const all = Array.from({ length: 9 }, () => readResultPieces(db, key));
    const firsts = await Promise.all(all.map(async (pieces) => (await pieces.next()).value as string));
    const texts = Promise.all(all.map(async (pieces, at) => firsts[at]! + (await wholeOf(pieces))));
    let most = 0;
    const isRead = texts.then(
      () => true,
      () => true,
    );
    do most = Math.max(most, await heldConnections());
    while (!(await Promise.race([isRead, Promise.resolve(false)])));
    assert.ok(most > 0 && most <= 4, `${most} connections`);
    for (const read of await texts) assert.equal(read === text, true);
  });

  it('that have expired meanwhile end in an error', async () => {
    const { key } = await store(2 * MB);
    const pieces = readResultPieces(db, key);
    await pieces.next();
    await eventually(async () => (await heldConnections()) === 0);
    await queryDatabase(stack, 'UPDATE node_results SET result = NULL, result_bytes = NULL WHERE run_id = $1', [
      key.runId,
    ]);
    await assert.rejects(wholeOf(pieces), /expired/);
  });
});
