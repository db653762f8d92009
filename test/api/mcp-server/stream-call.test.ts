// Tests the stream of a tool call whose run takes long, with intervals that are short enough for a test.
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import fc from 'fast-check';
import { createSharedReads } from '../../../api/live/shared-reads.js';
import { RunHub } from '../../../api/live/run-hub.js';
import type { Readers } from '../../../api/live/watched-runs.js';
import { streamCall, type CallDeps } from '../../../api/mcp-server/stream-call.js';
import { idInToolName, toToolName } from '../../../api/mcp-server/tool-view.js';
import { createLogger } from '../../../telemetry/logger.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { drawing, linkInRow, node as nodeOf, trigger } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { cancelRun } from '../../support/inspect.js';
import { untilWaiting } from '../../support/waiting.js';
import { createAccount, removeKey, sessionOf, type Account } from '../accounts.js';
import { messagesIn, textOf, type CallToolResult } from './mcp-clients.js';

const OFTEN = { maxMs: 60_000, aliveEveryMs: 100 };

describe('the stream of a tool call', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let db: Database;
  let deps: CallDeps;
  /** The numbers of readers that the hub reported last. */
  let readers: Readers | undefined;
  let runId: string;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    const options = { poolMax: 4, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.stack.database_url, ...options });
    const memory = new ByteBudget({ totalBytes: 2 ** 30, uncountedBytes: 0 });
    const logger = createLogger('api', 'fatal');
    const runHub = new RunHub({ db, memory, logger, onReaders: (now) => (readers = { ...now }) });
    deps = { db, runHub, memory, sharedReads: createSharedReads(db, 30) };
    const { api } = account;
    const wait = nodeOf('wait', { mode: 'callback' });
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), wait])));
    runId = (await api.run(id)).data.id;
    await untilWaiting(api, runId, wait.id);
  });
  after(async () => {
    await deps.runHub.stop();
    await db.destroy();
    // A session, because the last test removes the key.
    await cancelRun(stack, runId, await sessionOf(stack, account));
  });

  function open(times: typeof OFTEN, signal = new AbortController().signal, progressToken?: string): Readable {
    const reader = { userId: account.userId, keyId: account.keyId };
    const call = { requestId: 1, progressToken, reported: 0, runId, reader, signal, takesFirstEvent: false };
    return streamCall(deps, call, times).body as Readable;
  }
  const read = async (stream: Readable, onComments = (_count: number): void => undefined): Promise<string> => {
    let text = '';
    for await (const chunk of stream) {
      text += String(chunk);
      onComments(text.match(/^:$/gm)?.length ?? 0);
    }
    return text;
  };
  const resultIn = (text: string): CallToolResult => messagesIn(text).at(-1)!['result'] as CallToolResult;

  for (const progressToken of [undefined, 'p']) {
    const kind = progressToken === undefined ? 'without' : 'with';

    it(`${kind} progress: comments keep it open, and it is answered without an error when it has taken too long`, async () => {
      const now = performance.now.bind(performance);
      let comments = 0;
      const text = await read(open(OFTEN, undefined, progressToken), (count) => {
        comments = count;
        // With the fifth comment, the time that the call may take is over.
        if (count === 5) performance.now = () => now() + OFTEN.maxMs;
      }).finally(() => (performance.now = now));
      assert.equal(comments, 5, text);
      assert.doesNotMatch(text, /(?:^|\n\n|:\n)\n/, 'no empty line without an event before it');
      const result = resultIn(text);
      assert.equal(result.isError, undefined);
      assert.match(textOf(result), new RegExp(`^The run ${runId} has taken an hour so far and goes on\\.`));
      assert.match(textOf(result), /The tool get_run/);
      assert.deepEqual(result['_meta'], { run_id: runId });
      const [address] = /GET (\S+),/.exec(textOf(result))!.slice(1);
      assert.equal(address, `/api/v1/workflows/workflow_result/?id=${runId}`);
      assert.equal((await account.api.poll(runId)).data.status, 'in progress');
    });

    it(`${kind} progress: if the client hangs up, the stream ends without a result and holds no memory`, async () => {
      const controller = new AbortController();
      const text = await read(open(OFTEN, controller.signal, progressToken), (count) => {
        if (count === 3) controller.abort();
      });
      assert.equal(text.includes('"result"'), false);
      assert.deepEqual([deps.memory.heldBytes, readers], [0, { waiting: 0, following: 0 }]);
    });
  }

  it('holds the memory of a large result until the client has taken it, and ends for others who need the memory', async () => {
    const { api } = account;
    const text = 'x'.repeat(1_000_000);
    const output = nodeOf('output', { value: '{{ input.text }}' });
    const fields = [{ id: 'text', type: 'text' }];
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(fields), output])));
    const ended = (await api.run(id, { text })).data.id;
    await api.pollToEnd(ended);
    const memory = new ByteBudget({ totalBytes: 32 * 1024 * 1024, uncountedBytes: 0 });
    const openSlow = () => {
      const reader = { userId: account.userId, keyId: account.keyId };
      const { signal } = new AbortController();
      const call = { requestId: 1, progressToken: undefined, reported: 0, runId: ended, reader, signal };
      const stream = streamCall({ ...deps, memory }, { ...call, takesFirstEvent: false }, OFTEN).body as Readable;
      return stream.iterator();
    };
    const taken = openSlow();
    let received = '';
    for (let part = await taken.next(); part.done !== true; part = await taken.next()) {
      received += String(part.value);
      if (received.length > 1_000 && received.length < text.length) assert.ok(memory.heldBytes > 0);
    }
    assert.equal(textOf(resultIn(received)), text);
    assert.equal(memory.heldBytes, 0);
    const stalled = openSlow();
    for (let first = ''; !first.includes('data:');) first = String((await stalled.next()).value);
    const other = memory.lease('user:other');
    await other.resize(31 * 1024 * 1024);
    await assert.rejects(async () => {
      while ((await stalled.next()).done !== true);
    });
    assert.equal(memory.heldBytes, other.bytes);
    other.end();
  });

  it('ends when the key that it was opened with is gone', async () => {
    const reading = read(open(OFTEN));
    await removeKey(stack, account);
    assert.equal(textOf(resultIn(await reading)), 'You may not run this workflow any more.');
  });
});

describe('the name of a tool', () => {
  it('has only characters that clients accept, whatever the title is, and contains the id', () => {
    const id = fc.integer({ min: 1, max: 2_147_483_647 });
    const title = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(id, title, (workflowId, text) => {
        const name = toToolName({ id: workflowId, title: text });
        return /^[A-Za-z0-9_-]{1,64}$/.test(name) && idInToolName(name) === workflowId;
      }),
      { numRuns: 2_000 },
    );
  });

  it('belongs to no workflow without an id at its end', () => {
    for (const name of ['', 'x', 'x_', 'x_0', 'x_01', 'x1', 'x_2147483648', 'x_1 ', 'ü_1', `${'x'.repeat(63)}_1`]) {
      assert.equal(idInToolName(name), undefined, name);
    }
    assert.deepEqual([idInToolName('7'), idInToolName('a_7'), idInToolName('a-b_c_7')], [7, 7, 7]);
  });
});
