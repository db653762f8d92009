import assert from 'node:assert/strict';
import { readLinks } from '../../../console/drawing/run-links.js';
import { startLiveRun, type LiveRun, type NodeEntry } from '../../../console/live/live-run.js';
import { linkState, statusesOf, statusOf } from '../../../console/live/node-status.js';
import { condition, drawing, link, llm, trigger } from '../../../harness/drawing/drawing.js';

const TIMES = { started_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:01.000Z' };

function succeeded(id: string, content = 'x'): NodeEntry {
  return { id, status: 'succeed', ...TIMES, result: { content } };
}

function running(status: LiveRun['status'], ...entries: NodeEntry[]): LiveRun {
  return startLiveRun(status, Object.fromEntries(entries.map((entry) => [entry.id, entry])));
}

describe('the status of nodes', () => {
  const [start, choose, yes, no, after] = [trigger(), condition('1', '==', '1'), llm('yes'), llm('no'), llm('after')];
  link(start, choose);
  link(choose, yes, 'true');
  link(choose, no, 'false');
  link(no, after);
  const links = readLinks(drawing([start, choose, yes, no, after]));
  const statusesIn = (live: LiveRun): (string | undefined)[] => {
    const statuses = statusesOf(links, live);
    return [start, choose, yes, no, after].map(({ id }) => statuses.get(id));
  };

  it('is in queue for what a run may still come to, and not run for what it has left aside', () => {
    assert.deepEqual(statusesIn(running('in queue')), ['in queue', 'in queue', 'in queue', 'in queue', 'in queue']);
    const live = running('in progress', succeeded(start.id), succeeded(choose.id, 'true'));
    assert.deepEqual(statusesIn(live), ['succeeded', 'succeeded', 'in queue', 'not run', 'not run']);
  });

  it('tells links that were taken from those that may still be, and from those that were left aside', () => {
    const statesIn = (live: LiveRun): string[] =>
      links.links.map((each) => linkState(each, live, statusesOf(links, live)));
    const begun: NodeEntry = { id: yes.id, status: 'in progress', ...TIMES };
    assert.deepEqual(
      links.links.map(({ handle }) => handle),
      ['', 'true', 'false', ''],
    );
    assert.deepEqual(statesIn(running('in progress', succeeded(start.id))), ['open', 'open', 'open', 'open']);
    const chosen = [succeeded(start.id), succeeded(choose.id, 'true')];
    assert.deepEqual(statesIn(running('in progress', ...chosen, begun)), ['followed', 'flowing', 'skipped', 'skipped']);
    const ended = running('succeed', ...chosen, succeeded(yes.id));
    assert.deepEqual(statesIn(ended), ['followed', 'followed', 'skipped', 'skipped']);
  });

  it('is not run for all that was not reached once the run is over', () => {
    const failed: NodeEntry = { id: choose.id, status: 'failed', ...TIMES, error: { code: 'x', message: 'x' } };
    const live = running('failed', succeeded(start.id), failed);
    assert.deepEqual(statusesIn(live), ['succeeded', 'failed', 'not run', 'not run', 'not run']);
  });

  it('is that of all iterations together for a node in a loop', () => {
    const inside = (index: number, entry: NodeEntry): NodeEntry => ({ ...entry, path: `${choose.id}[${index}]` });
    const failed: NodeEntry = { id: yes.id, status: 'failed', ...TIMES, error: { code: 'x', message: 'x' } };
    const begun: NodeEntry = { id: yes.id, status: 'in progress', ...TIMES };
    const of = (...entries: NodeEntry[]): string | undefined => {
      const keyed = Object.fromEntries(entries.map((entry, index) => [index, inside(index, entry)]));
      return statusesOf(links, startLiveRun('in progress', keyed)).get(yes.id);
    };
    assert.equal(of(succeeded(yes.id), succeeded(yes.id)), 'succeeded');
    assert.equal(of(succeeded(yes.id), failed, succeeded(yes.id)), 'failed');
    assert.equal(of(failed, begun), 'in progress');
    const reused: NodeEntry = { ...failed, reused: true };
    assert.equal(of(reused, begun), 'in progress');
    assert.equal(of(succeeded(yes.id), reused), 'failed, reused');
    assert.equal(of(reused, failed), 'failed');
  });

  it('goes on behind a failure that was caught, by the way of errors', () => {
    const data = {
      nodes: [
        { id: 'a', data: { next_nodes: ['b'], error_node: 'c' } },
        { id: 'b', data: {} },
        { id: 'c', data: {} },
      ],
      start_node: 'a',
    };
    const failed: NodeEntry = {
      id: 'a',
      status: 'failed',
      ...TIMES,
      handled: true,
      error: { code: 'x', message: 'x' },
    };
    const statuses = statusesOf(readLinks(data), running('in progress', failed));
    assert.equal(statuses.get('c'), 'in queue');
  });

  it('tells cancelled nodes, waiting nodes and reused results apart', () => {
    const error = { code: 'cancelled', message: 'The run ended first.' };
    assert.equal(statusOf({ id: 'a', status: 'failed', error }), 'cancelled');
    assert.equal(statusOf({ id: 'a', status: 'in progress' }, true), 'waiting');
    assert.equal(statusOf({ id: 'a', status: 'in progress' }), 'in progress');
    assert.equal(statusOf({ ...succeeded('a'), reused: true }), 'succeeded, reused');
  });
});

describe('the links of a drawing', () => {
  it('come from the data of a node, and from edges only for an exit that the data does not mention', () => {
    const { links } = readLinks({
      nodes: [
        { id: 'a', data: { next_nodes: [] } },
        { id: 'if', data: { true_node: 'b' } },
        { id: 'b', data: {} },
        { id: 'c', data: {} },
        { id: 'many', data: { cases: [{ id: 'x', node: 'b' }], default_node: 'c' } },
      ],
      edges: [
        { source: 'a', target: 'b' },
        { source: 'if', target: 'c', sourceHandle: 'condition-true' },
        { source: 'if', target: 'c', sourceHandle: 'condition-false' },
        { source: 'b', target: 'c', sourceHandle: 'output' },
        { source: 'b', target: 'gone' },
      ],
    });
    assert.deepEqual(links, [
      { from: 'if', to: 'b', handle: 'true' },
      { from: 'if', to: 'c', handle: 'false' },
      { from: 'b', to: 'c', handle: '' },
      { from: 'many', to: 'c', handle: 'default' },
      { from: 'many', to: 'b', handle: 'x' },
    ]);
  });

  it('order each node behind those that lead to it, and survive circles, twins and what is no drawing', () => {
    const circle = {
      nodes: [
        { id: 'a', data: { next_nodes: ['b'] } },
        { id: 'b', data: { next_nodes: ['a'] } },
      ],
    };
    assert.deepEqual(readLinks(circle).order, ['a', 'b']);
    const row = {
      nodes: [
        { id: 'b', data: {} },
        { id: 'a', data: { next_nodes: ['b', 'b'] } },
      ],
    };
    assert.deepEqual(readLinks(row).order, ['a', 'b']);
    for (const odd of [{}, { nodes: 'x', edges: 3 }, { nodes: [null, {}, { id: 1 }], edges: [null] }]) {
      assert.deepEqual(readLinks(odd as never).order, []);
    }
  });
});
