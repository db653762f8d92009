import assert from 'node:assert/strict';
import type { TextDelta } from '../../../api/streams/text-reader.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { createGate } from '../../../harness/timing/gate.js';
import { openEventStream, type OpenStream } from '../../support/event-stream.js';
import { drawing, linkInRow, llm, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { killAndAwaitRestart } from '../../../harness/stack/kill-part.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

describe('the streamed answer of a model while processes crash', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });
  after(() => stack.stop());

  const deltasIn = ({ events }: OpenStream): TextDelta[] =>
    events.filter(({ event }) => event === 'delta').map(({ data }) => data as unknown as TextDelta);
  const read = (runId: string, apiUrl = stack.apiUrl, lastEventId?: number): Promise<OpenStream> =>
    openEventStream(apiUrl, stack.apiKey, runId, {
      withDeltas: true,
      ...(lastEventId !== undefined && { lastEventId }),
    });

  async function start(model: string): Promise<string> {
    const nodes = linkInRow([trigger(), llm('say', { settings: { model_name: model } })]);
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing(nodes)))).data.id;
  }

  it('begins anew after kill -9 of the worker, and is paid for once', async () => {
    stack.modelProvider.script('killed', [
      { parts: ['the first words ', { waitMs: 60_000 }] },
      { parts: ['the second ', { waitMs: 300 }, 'words'] },
    ]);
    const runId = await start('killed');
    const stream = await read(runId);
    await eventually(() => deltasIn(stream).length > 0);
    await killAndAwaitRestart(stack, 'worker', 20_000);
    await stream.ended;
    const deltas = deltasIn(stream);
    assert.deepEqual([deltas[0]!.attempt, deltas[0]!.text], [1, 'the first words ']);
    const second = deltas.filter(({ attempt }) => attempt === 2);
    assert.deepEqual([second[0]!.reset, second.filter(({ reset }) => reset).length], [true, 1]);
    assert.equal(second.map(({ text }) => text).join(''), 'the second words');
    assert.equal((await transactionsOf(stack, runId)).filter(({ operation }) => operation === 'llm').length, 1);
    assert.deepEqual(await queryDatabase(stack, 'SELECT FROM run_deltas WHERE run_id = $1', [runId]), []);
  });

  it('goes on at another API process after kill -9 of the one that streamed it', async () => {
    const readElsewhere = createGate();
    stack.modelProvider.script('elsewhere', { parts: ['one ', readElsewhere, 'two ', { waitMs: 500 }, 'three'] });
    const other = await startApiProcess(stack);
    const runId = await start('elsewhere');
    const first = await read(runId, other.apiUrl);
    await eventually(() => deltasIn(first).length > 0);
    process.kill(other.pid, 'SIGKILL');
    await first.ended;
    const second = await read(runId, stack.apiUrl, first.events.findLast(({ id }) => !Number.isNaN(id))?.id);
    await eventually(() => deltasIn(second).length > 0);
    readElsewhere.open();
    await second.ended;
    const deltas = deltasIn(second);
    assert.deepEqual([deltas[0]!.reset, deltas[0]!.index, deltas[0]!.text], [true, 0, 'one ']);
    assert.equal(deltas.map(({ text }) => text).join(''), 'one two three');
    assert.equal(second.events.at(-1)!.data.status, 'succeed');
  });

  it('loses nothing of the result when the database crashes meanwhile, and leaves no row', async () => {
    const restarted = createGate();
    stack.modelProvider.script('database', { parts: ['before ', restarted, 'and ', { waitMs: 2_000 }, 'after'] });
    const runId = await start('database');
    const stream = await read(runId);
    await eventually(() => deltasIn(stream).length > 0);
    await killAndAwaitRestart(stack, 'postgres', 20_000);
    restarted.open();
    const { data } = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    const said = Object.values(data.data!).find(({ result }) => result?.usage !== undefined);
    assert.deepEqual([data.status, said?.result?.content], ['succeed', 'before and after']);
    const left = () => queryDatabase(stack, 'SELECT FROM run_deltas WHERE run_id = $1', [runId]);
    assert.deepEqual(await left(), []);
  });
});
