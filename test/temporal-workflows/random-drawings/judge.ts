// Compares the events of a run with the expected ones.
import assert from 'node:assert/strict';
import type { RandomDrawing } from './drawing.js';
import { expectedOf, isCatchable, keyOf, pathOf, type Expected } from './oracle.js';
import type { Event, Played } from './play.js';

type Nodes = ReadonlyMap<string, Expected>;

/** Throws an AssertionError that describes the difference. */
export function judge(drawing: RandomDrawing, played: Played): void {
  const { nodes, failures } = expectedOf(drawing);
  const isCancelled = played.isCancelled && played.ends[0]?.status === 'cancelled';
  judgeNodes(played, nodes, isCancelled);
  judgeOrder(played, nodes);
  judgeStops(played, nodes);
  judgeLimits(played, nodes);
  judgeEnd(played, failures, isCancelled);
}

function judgeEnd(
  { ends, closed }: Played,
  failures: ReadonlyMap<string, ReadonlySet<string>>,
  isCancelled: boolean,
): void {
  assert.equal(ends.length, 1, `the end was reported ${ends.length} times`);
  const { status, error } = ends[0]!;
  const expected = failures.size === 0 ? 'succeed' : 'failed';
  assert.equal(status, isCancelled ? 'cancelled' : expected);
  assert.equal(closed, isCancelled ? 'cancelled' : expected === 'succeed' ? 'completed' : 'failed');
  if (status !== 'failed') return;
  const codes = failures.get(error?.node?.nodeId ?? '');
  const isKnown = error?.node?.path === '' && codes?.has(error.code) === true;
  assert.ok(isKnown, `the run failed by ${JSON.stringify(error)}`);
}

/** Every sure node has run, and no unexpected one; each once, with the expected result. */
function judgeNodes({ events, results }: Played, nodes: Nodes, isCancelled: boolean): void {
  const started = new Set<string>();
  const ended = new Map<string, Event & { what: 'ends' }>();
  for (const event of events) {
    const key = keyOf(event.path, event.id);
    assert.ok(nodes.has(key), `${key} should not run`);
    if (event.what === 'starts') {
      assert.ok(!started.has(key), `${key} started twice`);
      started.add(key);
    } else if (event.what === 'ends') {
      assert.ok(started.has(key) && !ended.has(key), `${key} ended twice, or before it started`);
      ended.set(key, event);
    }
  }
  for (const [key, { isSure, codes, result, step }] of nodes) {
    const end = ended.get(key);
    if (end === undefined || end.outcome === 'cancelled') {
      assert.ok(!isSure || isCancelled, `${key} should run, and not be cancelled`);
      continue;
    }
    assert.equal(end.outcome, codes.size === 0 ? 'ok' : 'failed', `${key} ended as ${end.outcome}`);
    if (end.code !== undefined) assert.ok(codes.has(end.code), `${key} failed by ${end.code}`);
    if (step.body !== undefined) assert.deepEqual([key, results.get(key)], [key, result]);
  }
}

/**
 * A node starts after all nodes before it that run. A node with `joinsAny` starts after one whose link to it is taken.
 */
function judgeOrder({ events }: Played, nodes: Nodes): void {
  const ended = new Set<string>();
  for (const event of events) {
    const key = keyOf(event.path, event.id);
    if (event.what === 'ends') ended.add(key);
    if (event.what !== 'starts') continue;
    const { before, step, path, isEntry } = nodes.get(key)!;
    const hasEnded = ({ id }: { id: string }): boolean => ended.has(keyOf(path, id));
    const hasCome = isEntry || before.some((node) => node.leads && hasEnded(node));
    assert.ok(step.joinsAny ? hasCome : before.every(hasEnded), `${key} started before what it follows had ended`);
  }
}

/** No node of a scope starts after an uncaught failure in it was delivered. */
function judgeStops({ events }: Played, nodes: Nodes): void {
  const stops: { at: number; isInside: (path: string) => boolean }[] = [];
  for (const event of events) {
    const { at, path, id } = event;
    if (event.what === 'starts') {
      const isLate = stops.some((stop) => stop.at < at && stop.isInside(path));
      assert.ok(!isLate, `${keyOf(path, id)} started after its scope had failed`);
    } else if (event.what === 'iteration ends') {
      if (event.code === undefined || event.isCaught) continue;
      const iterations = pathOf(path, id, 0).slice(0, -'0]'.length);
      stops.push({ at, isInside: (other) => other.startsWith(iterations) });
    } else if (event.what === 'ends' && event.outcome === 'failed') {
      const { step, codes } = nodes.get(keyOf(path, id))!;
      if (step.onError !== 'fail' && isCatchable(codes)) continue;
      stops.push({ at, isInside: (other) => path === '' || other === path || other.startsWith(`${path}/`) });
    }
  }
}

/** No more nodes are in flight, and no more iterations are open, than the run and the loop allow. */
function judgeLimits({ events, maxInFlight }: Played, nodes: Nodes): void {
  const inFlight = new Set<string>();
  const openIterations = new Map<string, Set<string>>();
  for (const event of events) {
    const { path, id } = event;
    const key = keyOf(path, id);
    if (event.what === 'iteration ends') {
      const iteration = pathOf(path, id, event.index);
      const left = [...inFlight].filter(
        (other) => other.startsWith(`${iteration} `) || other.startsWith(`${iteration}/`),
      );
      assert.deepEqual(left, [], `${iteration} ended while nodes of it were in flight`);
      openIterations.get(key)?.delete(iteration);
    } else if (event.what === 'ends' || event.what === 'pauses') {
      inFlight.delete(key);
    } else {
      if (nodes.get(key)!.step.body === undefined) inFlight.add(key);
      assert.ok(inFlight.size <= maxInFlight, `${inFlight.size} nodes are in flight at ${key}`);
      if (path === '') continue;
      const { loop, loopPath } = loopOf(path);
      const of = keyOf(loopPath, loop);
      const open = openIterations.get(of) ?? new Set();
      openIterations.set(of, open.add(path));
      const { concurrency } = nodes.get(of)!.step.body!;
      assert.ok(open.size <= concurrency, `${open.size} iterations of ${of} are open`);
    }
  }
}

/** The loop whose iteration has the path, and the path of the loop itself. */
function loopOf(path: string): { loop: string; loopPath: string } {
  const slash = path.lastIndexOf('/');
  return { loop: path.slice(slash + 1, path.lastIndexOf('[')), loopPath: path.slice(0, Math.max(slash, 0)) };
}
