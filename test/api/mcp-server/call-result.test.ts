// The memory that the result of a tool call takes.
import assert from 'node:assert/strict';
import { readCallResult } from '../../../api/mcp-server/call-result.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { drawing, http, linkInRow, node as nodeOf, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, type Account } from '../accounts.js';
import { textOf, type CallToolResult } from './mcp-clients.js';

describe('the memory of a tool result', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let db: Database;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    const options = { poolMax: 4, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.stack.database_url, ...options });
  });
  after(async () => {
    await target.close();
    await db.destroy();
  });

  async function resultOf(last: ReturnType<typeof nodeOf>): Promise<{ result: CallToolResult; asked: number[] }> {
    const { runId, status, nodes } = await account.api.runToEnd(drawing(linkInRow([trigger(), last])));
    assert.equal(status, 'succeed', JSON.stringify(nodes).slice(0, 1_000));
    const asked: number[] = [];
    const lease = {
      bytes: 0,
      resize: (bytes: number) => void asked.push(bytes),
      lend: () => () => undefined,
      end: () => undefined,
    };
    return { result: (await readCallResult({ db }, runId, lease)) as CallToolResult, asked };
  }

  it('is none for an output that is too large, of an output node or the last one', async () => {
    for (const last of [
      http(`${target.url}/bytes/1200000`),
      nodeOf('output', { value: 'x'.repeat(1_200_000) }),
      nodeOf('output', { value: { text: 'x'.repeat(1_200_000 - 11) } }),
    ]) {
      const { result, asked } = await resultOf(last);
      assert.deepEqual([asked, result.isError], [[], true]);
      assert.match(textOf(result), /its output has 1200000 characters/);
    }
  });

  it('is reserved by the bytes of an output whose characters are within the limit', async () => {
    const text = '\u{1F600}'.repeat(300_000);
    const { result, asked } = await resultOf(nodeOf('output', { value: text }));
    assert.equal(textOf(result) === text, true);
    assert.deepEqual([asked.length, asked[0]! > 8 * 1_200_000], [1, true]);
  });
});
