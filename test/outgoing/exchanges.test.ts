import assert from 'node:assert/strict';
import { AsyncResource } from 'node:async_hooks';
import { McpExchanges } from '../../outgoing/exchanges.js';

describe('the open requests of MCP sessions', () => {
  const open = (): McpExchanges => new McpExchanges(() => undefined);

  it('know the one for which code runs, across what it awaits, and each session its own alone', async () => {
    const [one, other] = [open(), open()];
    const exchange = one.begin(1);
    assert.equal(one.current, undefined);
    await one.run(exchange, async () => {
      await new Promise(setImmediate);
      assert.equal(one.current, exchange);
      assert.equal(other.current, undefined);
      assert.equal(
        one.run(undefined, () => one.current),
        undefined,
      );
    });
    assert.equal(one.current, undefined);
  });

  it('add no property to later promises and callbacks of the process, however many sessions there were', () => {
    // Node.js 20 stores each `AsyncLocalStorage` as a property of every promise and callback.
    const carried = (): number => Object.getOwnPropertySymbols(new AsyncResource('Test')).length;
    const session = (): void => {
      const exchanges = open();
      exchanges.run(exchanges.begin(0), () => undefined);
    };
    session();
    const before = carried();
    for (let count = 0; count < 100; count += 1) session();
    assert.equal(carried(), before);
  });
});
