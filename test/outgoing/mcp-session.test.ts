import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpExchanges } from '../../outgoing/exchanges.js';
import { createSession, LIST_TIMEOUT_MS } from '../../outgoing/mcp-session.js';
import { failing, NEVER } from './mcp.js';

type Ask = (request: { params: { cursor?: string } }, signal: AbortSignal) => Promise<unknown>;

/** A session whose server answers as `ask` does. */
function sessionWith(ask: Ask, listTimeoutMs?: number) {
  const client = {
    request: (request: Parameters<Ask>[0], _schema: unknown, options: { signal: AbortSignal }) =>
      ask(request, options.signal),
  } as unknown as Client;
  const exchanges = new McpExchanges(() => undefined);
  return createSession(
    client,
    exchanges,
    (text) => text,
    () => Promise.resolve(),
    listTimeoutMs,
  );
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

describe('a session with an MCP server', () => {
  it('has thirty seconds for its list of tools, however many pages come in time', async () => {
    assert.equal(LIST_TIMEOUT_MS, 30_000);
    const silent = sessionWith((_request, signal) => aborted(signal), 20);
    await assert.rejects(silent.listTools(NEVER), failing('timeout', /within 0\.02 seconds/));
    let page = 0;
    const slow = sessionWith(async (_request, signal) => {
      await Promise.race([pause(10), aborted(signal)]);
      return { tools: [], nextCursor: String((page += 1)) };
    }, 200);
    await assert.rejects(slow.listTools(NEVER), failing('timeout', /within 0\.2 seconds/));
    assert.ok(page < 100, 'the pages have not ended it');
  });
});
