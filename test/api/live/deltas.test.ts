import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TextDelta } from '../../../api/live/text-reader.js';
import { eventually } from '../../support/eventually.js';
import { openEventStream, type OpenStream, type StreamedEvent } from '../../support/event-stream.js';
import { agent, drawing, linkInRow, llm, trigger, type DrawingNode } from '../../support/graphs.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../support/stack.js';
import type { StreamPart } from '../../support/stream-completion.js';
import { startToolServer, type ToolServer } from '../../support/tool-server.js';
import { createAccount, type Account } from '../accounts.js';

describe('what a model writes', function () {
  this.timeout(60_000);
  let stack: TestStack;
  let tools: ToolServer;
  let account: Account;

  before(async () => {
    stack = await sharedStack();
    [tools, account] = await Promise.all([startToolServer(), createAccount(stack)]);
  });
  after(() => tools.close());

  const open = (runId: string): Promise<OpenStream> =>
    openEventStream(stack.apiUrl, account.apiKey, runId, { withDeltas: true });

  async function start(...nodes: DrawingNode[]): Promise<string> {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    const { api } = account;
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, ...nodes])))).data.id;
  }

  const deltasIn = (events: StreamedEvent[]): TextDelta[] =>
    events.filter(({ event }) => event === 'delta').map(({ data }) => data as unknown as TextDelta);

  const endOf = (events: StreamedEvent[], node: DrawingNode): StreamedEvent =>
    events.find(({ event, data }) => event === 'node' && data.id === node.id && data.status !== 'in progress')!;

  /** What a reader has of the last step of a node. */
  function joined(events: StreamedEvent[], node: DrawingNode): string {
    const before = events.slice(0, events.indexOf(endOf(events, node)));
    const deltas = deltasIn(before).filter(({ id }) => id === node.id);
    const last = deltas.at(-1)!;
    const ofStep = deltas.filter(({ attempt, step }) => attempt === last.attempt && step === last.step);
    assert.deepEqual(
      ofStep.map(({ index }) => index),
      [...ofStep.keys()],
    );
    return ofStep
      .slice(
        Math.max(
          0,
          ofStep.findLastIndex(({ reset }) => reset === true),
        ),
      )
      .map(({ text = '' }) => text)
      .join('');
  }

  const slowly = (words: string[], waitMs = 60): StreamPart[] => words.flatMap((word) => [word, { waitMs }]);

  function scripted(parts: StreamPart[]): DrawingNode {
    const model = `m-${randomUUID()}`;
    stack.modelProvider.script(model, { parts });
    return llm('say', { model_name: model });
  }

  it('comes word by word, ends before the node, and is gone from the database then', async () => {
    const node = scripted(slowly(['one ', 'two ', 'three ', 'four ', 'five ', 'six ']));
    const stream = await open(await start(node));
    await stream.ended;
    const deltas = deltasIn(stream.events);
    if (process.env.DBG)
      for (const e of stream.events)
        console.log(e.receivedAtMs % 100000, e.event, JSON.stringify(e.data).slice(0, 150));
    assert.ok(deltas.length >= 2, `${deltas.length} deltas`);
    assert.deepEqual([deltas[0]!.attempt, deltas[0]!.step, deltas[0]!.path], [1, 0, '']);
    assert.equal(joined(stream.events, node), 'one two three four five six ');
    assert.equal(endOf(stream.events, node).data.result?.content, 'one two three four five six ');
  });
});
