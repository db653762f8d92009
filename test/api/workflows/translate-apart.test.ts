import assert from 'node:assert/strict';
import { translateHere } from '../../../api/workflows/import-body.js';
import { translateApart } from '../../../api/workflows/translate-apart.js';
import { ApiError } from '../../../api/http/errors.js';
import type { JsonObject } from '../../../graph/json.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { createProcesses, ProcessesBusyError, type Processes } from '../../../processes/processes.js';

/** An n8n file with a row of nodes. Each node after the first has a text of at least `characters` characters. */
function rowOf(count: number, characters: number): JsonObject {
  const name = (index: number): string => (index === 0 ? 'Start' : `Node ${index}`);
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: String(index),
    name: name(index),
    type: index === 0 ? 'n8n-nodes-base.webhook' : 'n8n-nodes-base.set',
    typeVersion: 3.4,
    position: [index * 200, 0],
    parameters:
      index === 0
        ? { path: 'start' }
        : {
            assignments: {
              assignments: [
                { id: 'a', name: 'text', value: `={{ $json.text }} ${'x'.repeat(characters)}`, type: 'string' },
              ],
            },
            options: {},
          },
  }));
  const connections = Object.fromEntries(
    nodes.slice(1).map(({ name: to }, index) => [name(index), { main: [[{ node: to, type: 'main', index: 0 }]] }]),
  );
  return { name: 'A row', nodes, connections, settings: {} };
}

describe('translated files of n8n', function () {
  this.timeout(120_000);
  let processes: Processes;
  let handedOver = 0;
  const memory = new ByteBudget({ totalBytes: 1_000_000_000, uncountedBytes: 0 });
  const { signal } = new AbortController();
  const inTurn = async <T>(work: () => T): Promise<T> => work();
  const counting: Processes = {
    run(work, options) {
      handedOver += 1;
      return processes.run(work, options);
    },
    close: () => undefined,
  };

  before(() => {
    processes = createProcesses(new URL('../../../dist/processes/host.js', import.meta.url));
  });
  after(() => processes.close());
  beforeEach(() => (handedOver = 0));

  it('become the same drawing in another process when they are large, and here when they are small', async () => {
    for (const [file, isApart] of [
      [rowOf(2_000, 3_500), true],
      [rowOf(5, 100), false],
    ] as const) {
      const lease = memory.lease('user:1');
      handedOver = 0;
      const translated = await translateApart(file, { processes: counting, userId: 1, memory: lease, signal, inTurn });
      const expected = JSON.parse(JSON.stringify(translateHere(file))) as unknown;
      assert.deepEqual(JSON.parse(JSON.stringify(translated)), expected);
      assert.equal(handedOver, Number(isApart));
      assert.equal(memory.heldBytes > 0, isApart);
      lease.end();
    }
  });

  it('are a 400 where they take too long or too much, and a 503 where too many wait', async () => {
    const file = rowOf(50, 3_500);
    for (const [run, status, message] of [
      [() => Promise.resolve(undefined), 400, 'The file takes too long to be translated.'],
      [() => Promise.resolve({ kind: 'failed', code: 'too_large', message: 'It is large.' }), 400, 'It is large.'],
      [() => Promise.reject(new ProcessesBusyError('Too much work waits.')), 503, undefined],
    ] as [Processes['run'], number, string | undefined][]) {
      const given = {
        processes: { run, close: () => undefined },
        userId: 1,
        memory: memory.lease('user:1'),
        signal,
        inTurn,
      };
      await assert.rejects(translateApart(file, given), (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.deepEqual([error.status, error.fields?.['nodes']?.[0]], [status, message]);
        return true;
      });
      given.memory.end();
    }
  });
});
