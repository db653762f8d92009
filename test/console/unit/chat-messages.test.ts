import assert from 'node:assert/strict';
import {
  MOST_PAGES,
  failureSentence,
  openOf,
  PAGE_SIZE,
  readAgainEvery,
  readNewest,
  runToStop,
  streamedOf,
  toAnew,
  toExchanges,
  together,
  type Exchange,
  type Loaded,
  type Message,
} from '../../../console/parts/chat/messages.js';

function message(run: string, facts: Partial<Message> = {}): Message {
  const { role = 'user' } = facts;
  return {
    id: `${role} ${run}`,
    role,
    content: run,
    files: [],
    created_at: '2026-11-26T16:00:00.000Z',
    run_id: run,
    cost: null,
    status: 'succeed',
    error: null,
    replaces: null,
    ...facts,
  };
}

const answer = (run: string, facts: Partial<Message> = {}): Message => message(run, { role: 'assistant', ...facts });
const loaded = (...items: Message[]): Loaded => ({ pages: new Map([[1, items]]), total: items.length });
const runs = (exchanges: readonly Exchange[]): string[] => exchanges.map(({ runId }) => runId);

describe('the messages of a chat', () => {
  it('are asked anew as they are, and not at all where only their beginning is there', () => {
    assert.deepEqual(toAnew(message('one')), { replaces: 'user one', content: 'one', files: [] });
    assert.equal(toAnew(message('one', { content: null }))?.content, '');
    assert.equal(toAnew(message('one', { truncated: true })), undefined);
  });

  /** A service that has these messages, and that records the pages that are requested. */
  function service(items: Message[]) {
    const asked: number[] = [];
    const read = (page: number) => {
      asked.push(page);
      return Promise.resolve({
        items: items.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
        total: items.length,
      });
    };
    return { asked, read };
  }
  const many = (count: number): Message[] =>
    Array.from({ length: count / 2 }, (_, run) => [message(String(run)), answer(String(run))]).flat();

  it('are read from the end, with the page before where the last one has few', async () => {
    const few = service(many(1_004));
    const first = await readNewest(undefined, few.read);
    assert.deepEqual([few.asked, new Set(first.pages.keys()), first.total], [[1, 21, 20], new Set([20, 21]), 1_004]);
    const full = service(many(1_000));
    assert.deepEqual([...(await readNewest(undefined, full.read)).pages.keys()], [20]);
    const one = service(many(10));
    assert.deepEqual([[...(await readNewest(undefined, one.read)).pages.keys()], one.asked], [[1], [1]]);
  });

  it('are read again from the first that may have changed, up to those that have come since', async () => {
    const items = many(120);
    const known = await readNewest(undefined, service(items).read);
    assert.deepEqual([...known.pages.keys()], [3]);
    const grown = service([...items, ...many(60)]);
    const now = await readNewest(known, grown.read);
    assert.deepEqual([grown.asked, now.total], [[3, 4], 180]);
    const waiting = [message('waits'), ...many(200)];
    const both = together(await readNewest(undefined, service(waiting).read), {
      pages: new Map([[1, waiting.slice(0, PAGE_SIZE)]]),
      total: 201,
    });
    const again = service(waiting);
    await readNewest(both, again.read);
    assert.equal(again.asked[0], 1);
  });

  it('are at most 400 pages, those of 10,000 messages with their answers, whatever number the service says, also while it grows with each page', async () => {
    assert.equal(MOST_PAGES, 400);
    const asked: number[] = [];
    let total = 1;
    const read = (page: number) => {
      asked.push(page);
      total += 2 * PAGE_SIZE;
      return Promise.resolve({ items: [message(String(page))], total });
    };
    const found = await readNewest({ pages: new Map([[1, [message('open')]]]), total: 1 }, read);
    assert.deepEqual([asked.length, asked.at(-1), found.pages.size], [400, 400, 400]);
    asked.length = 0;
    total = Number.MAX_SAFE_INTEGER;
    await readNewest(undefined, read);
    assert.deepEqual(asked, [1, 400, 399]);
  });

  it('stand with their answers, whenever these have come', () => {
    const found = toExchanges(loaded(message('a'), message('b'), answer('b'), answer('a')));
    assert.deepEqual(
      found.map(({ runId, answer: given }) => [runId, given?.run_id]),
      [
        ['a', 'a'],
        ['b', 'b'],
      ],
    );
    assert.deepEqual(runs(toExchanges(loaded(message('b'), answer('before'), answer('b')))), ['before', 'b']);
  });

  it('that were asked anew stand aside with what followed them', () => {
    const found = toExchanges(
      loaded(message('a'), message('b'), message('c'), message('d', { replaces: 'user b' }), message('e')),
    );
    assert.deepEqual(runs(found), ['a', 'd', 'e']);
    assert.deepEqual(runs(found[1]!.former), ['b', 'c']);
    const back = toExchanges(
      loaded(message('a'), message('b'), message('c', { replaces: 'user a' }), message('d', { replaces: 'user b' })),
    );
    assert.deepEqual(runs(back), ['a', 'd'], 'a branch that was left can be taken up');
    assert.deepEqual(runs(back[1]!.former), ['b', 'c']);
    const unread = toExchanges(loaded(message('b'), message('c', { replaces: 'on an earlier page' })));
    assert.deepEqual([runs(unread), runs(unread[0]!.former)], [['c'], ['b']]);
  });

  it('are open until there is an answer; the newest that has begun is stopped first', () => {
    const begun = { status: 'in progress' } as const;
    const queued = { status: 'in queue' } as const;
    const open = openOf(
      toExchanges(loaded(message('a', begun), message('b', begun), message('c', queued), message('d'), answer('d'))),
    );
    const unknown = (): undefined => undefined;
    assert.deepEqual([runs(open), runToStop(open, unknown)], [['a', 'b', 'c'], 'b']);
    assert.equal(runToStop(open.slice(2), unknown), 'c');
    assert.equal(runToStop([], unknown), undefined);
    const stopped = (words: Record<string, string>) => runToStop(open, (run) => words[run]);
    assert.equal(stopped({ a: 'waiting', b: 'waiting', c: 'in progress' }), 'c', 'it has left the queue');
    assert.equal(stopped({ a: 'in progress', b: 'waiting' }), 'a', 'b waits for a person');
    assert.equal(stopped({ a: 'waiting', b: 'waiting' }), 'b', 'none is at work');
  });

  it('are streamed from the oldest that is open: it may be at work while later ones are queued', () => {
    const [begun, queued] = [{ status: 'in progress' } as const, { status: 'in queue' } as const];
    const answered = [message('a'), answer('a')];
    const open = [message('b', begun), ...['c', 'd', 'e'].map((run) => message(run, queued))];
    assert.deepEqual(streamedOf(toExchanges(loaded(...answered, ...open))), ['b', 'c', 'd']);
    assert.deepEqual(streamedOf(toExchanges(loaded(...answered))), []);
  });

  it('are reloaded while more runs are open than are streamed', () => {
    const three = ['a', 'b', 'c'].map((run) => message(run, { status: 'in progress' }));
    assert.equal(readAgainEvery(undefined), false);
    assert.equal(readAgainEvery(loaded(...three)), false);
    assert.notEqual(readAgainEvery(loaded(...three, message('d'))), false);
    assert.equal(readAgainEvery(loaded(...three, message('d'), answer('d'))), false);
  });

  it('without an answer say why', () => {
    const error = { code: 'model_error', message: 'The model is away.' };
    assert.equal(failureSentence(answer('a')), undefined);
    assert.match(failureSentence(answer('a', { status: 'failed', error }))!, /the run failed\. The model is away\.$/);
    assert.match(failureSentence(answer('a', { status: 'cancelled' }))!, /cancelled/);
  });
});
