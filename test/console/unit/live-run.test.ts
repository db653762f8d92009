import assert from 'node:assert/strict';
import type { RunEvent } from '../../../clients/typescript/src/index.js';
import {
  applyEvents,
  applyNews,
  applyState,
  nodeKey,
  parseNodeKey,
  startLiveRun,
  type LiveRun,
  type NodeEntry,
} from '../../../console/live/live-run.js';
import { statusOf } from '../../../console/live/node-status.js';

const START = '2026-01-31T12:00:00.000Z';
const END = '2026-01-31T12:00:01.000Z';
let version = 0;

function began(id: string, path = ''): RunEvent {
  version += 1;
  return { type: 'node', version, node: { id, path, status: 'in progress', started_at: START, finished_at: null } };
}

function ended(id: string, result: unknown = { content: id }): RunEvent {
  version += 1;
  return {
    type: 'node',
    version,
    node: { id, path: '', status: 'succeed', started_at: START, finished_at: END, result },
  };
}

function asked(requestId: string, status: string, nodeId = 'agent'): RunEvent {
  version += 1;
  return { type: 'approval', version, approval: { request_id: requestId, node_id: nodeId, path: '', status } };
}

describe('the live state of a run', () => {
  it('takes every event of 300 nodes side by side, in whatever batches they come', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `node ${index}`);
    const events = [...ids.map((id) => began(id)), ...ids.map((id) => ended(id))];
    for (const size of [1, 7, 64, events.length]) {
      let live = startLiveRun('in progress', {});
      for (let from = 0; from < events.length; from += size) live = applyEvents(live, events.slice(from, from + size));
      assert.deepEqual([...live.nodes.keys()], ids);
      assert.ok([...live.nodes.values()].every(({ status }) => status === 'succeed'));
      assert.deepEqual(live.order, ids);
      assert.equal(live.version, events.at(-1)!.version);
    }
  });

  it('leaves the entries of all other nodes the same objects, and the order, too, where no node has begun', () => {
    const before = applyEvents(startLiveRun('in progress', {}), [began('a'), began('b')]);
    const after = applyEvents(before, [ended('a')]);
    assert.notEqual(after.nodes.get('a'), before.nodes.get('a'));
    assert.equal(after.nodes.get('b'), before.nodes.get('b'));
    assert.equal(after.order, before.order);
  });

  it('has the nodes in one order, whether they came one by one or all at once after a reload', () => {
    const at = (id: string, startedAt: string): NodeEntry => ({
      id,
      status: 'in progress',
      started_at: startedAt,
      finished_at: null,
    });
    const entries = [at('late', END), at('second', START), at('first', START)];
    const inOrder = ['first', 'second', 'late'];
    const whole = startLiveRun('in progress', Object.fromEntries(entries.map((entry) => [entry.id, entry])), inOrder);
    let live = startLiveRun('in progress', {}, inOrder);
    for (const node of entries) live = applyEvents(live, [{ type: 'node', version: 1, node: { ...node, path: '' } }]);
    assert.deepEqual(live.order, inOrder);
    assert.deepEqual(whole.order, inOrder);
  });

  it('does not let a poll or an event that is older take a node back', () => {
    const live = applyEvents(startLiveRun('in progress', {}), [began('a'), ended('a')]);
    const entry: NodeEntry = { id: 'a', status: 'in progress', started_at: START, finished_at: null };
    assert.equal(
      applyState(live, { status: 'in progress', version: 1, nodes: { a: entry } }).nodes.get('a')?.status,
      'succeed',
    );
    assert.equal(applyEvents(live, [began('a')]).nodes.get('a')?.status, 'succeed');
    const over = applyEvents(live, [{ type: 'run', version: 9, status: 'succeed' }]);
    assert.equal(applyState(over, { status: 'in progress', version: 1, nodes: {} }).status, 'succeed');
  });

  it('does not let a poll without a version, or with an earlier one, take back what an event has told', () => {
    const entry: NodeEntry = { id: 'a', status: 'in progress', started_at: START, finished_at: null };
    const waits = { ...entry, path: '', waiting: { for: 'time' as const, until: END } };
    const live = applyEvents(startLiveRun('in progress', {}), [{ type: 'node', version: 5, node: waits }]);
    for (const earlier of [undefined, 4]) {
      const polled = applyState(live, {
        status: 'in queue',
        version: earlier,
        nodes: { a: entry, b: { ...entry, id: 'b' } },
      });
      assert.deepEqual(polled.nodes.get('a')?.waiting, waits.waiting);
      assert.equal(polled.nodes.get('b')?.status, 'in progress');
      assert.equal(polled.status, 'in progress');
    }
    assert.equal(
      applyState(live, { status: 'in progress', version: 6, nodes: { a: entry } }).nodes.get('a')?.waiting,
      undefined,
    );
  });

  it('keeps which requests wait, by events and by polls', () => {
    const live = applyEvents(startLiveRun('in progress', {}), [
      began('agent'),
      asked('one', 'pending'),
      asked('two', 'pending'),
    ]);
    assert.deepEqual(live.pending.get('agent'), ['one', 'two']);
    const decided = applyEvents(live, [asked('one', 'approved'), asked('two', 'rejected')]);
    assert.equal(decided.pending.has('agent'), false);
    const request = { request_id: 'three', status: 'pending' };
    const entry: NodeEntry = {
      id: 'agent',
      status: 'in progress',
      started_at: START,
      finished_at: null,
      approval_requests: [request],
    };
    const polled = applyState(decided, { status: 'in progress', version: version + 1, nodes: { agent: entry } });
    assert.deepEqual(polled.pending.get('agent'), ['three']);
    assert.equal(applyEvents(polled, [ended('agent')]).pending.size, 0);
  });

  it('does not wait any longer once the last request is decided, although no event of the node says so', () => {
    const requests = ['one', 'two'].map((id) => ({ request_id: id, status: 'pending' }));
    const entry: NodeEntry = {
      id: 'agent',
      status: 'in progress',
      started_at: START,
      finished_at: null,
      approval_requests: requests,
      waiting: { for: 'approval', until: END },
    };
    const wordIn = (live: LiveRun) => statusOf(live.nodes.get('agent')!, live.pending.has('agent'));
    const polled = startLiveRun('in progress', { agent: entry });
    assert.equal(wordIn(polled), 'waiting');
    const once = applyEvents(polled, [asked('one', 'approved')]);
    assert.equal(wordIn(once), 'waiting');
    assert.equal(wordIn(applyEvents(once, [asked('two', 'rejected')])), 'in progress');
    assert.equal(
      applyState(polled, { status: 'in progress', version: 1, nodes: { agent: entry } }).nodes.get('agent'),
      polled.nodes.get('agent'),
    );
  });

  it('keeps iterations of a node apart, and takes any id as it is', () => {
    const live = applyEvents(startLiveRun('in progress', {}), [
      began('a', 'LOOP[0]'),
      began('a', 'LOOP[1]'),
      began('__proto__'),
    ]);
    assert.deepEqual(live.order.map(parseNodeKey), [
      { nodeId: '__proto__', path: '' },
      { nodeId: 'a', path: 'LOOP[0]' },
      { nodeId: 'a', path: 'LOOP[1]' },
    ]);
    assert.equal(live.nodes.get(nodeKey('a', 'LOOP[1]'))?.path, 'LOOP[1]');
    assert.equal(live.nodes.get('a'), undefined);
  });

  it('takes polls and events in the order in which they have come', () => {
    const polled: NodeEntry = { id: 'a', status: 'in progress', started_at: START, finished_at: null };
    const live = applyNews(startLiveRun('in queue', {}), [
      { status: 'in progress' as const, version: 3, nodes: { a: polled } },
      ended('a'),
      { type: 'run', version: 99, status: 'succeed' } satisfies RunEvent,
    ]);
    assert.equal(live.status, 'succeed');
    assert.equal(live.version, 99);
    assert.equal(live.nodes.get('a')?.status, 'succeed');
  });
});
