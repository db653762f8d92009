import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { bundleWith, type Change } from '../support/doctored-bundle.js';
import { ReplayedMachine } from '../support/replayed-machine.js';
import { WorkflowMachine } from '../support/workflow-machine.js';
import { readDrawing, Tape, toDocument, type RandomDrawing } from './random-drawings/drawing.js';
import { judge } from './random-drawings/judge.js';
import { play, type Machine, type Played } from './random-drawings/play.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');
const RUNS = Number(process.env['RANDOM_DRAWINGS'] ?? 300);
/** The number of drawings that are tried to find a mistake. */
const MOST_RUNS = 20_000;
/** `RANDOM_DRAWINGS_SEED=7` tries other drawings. The report of a failure contains the seed, too. */
const SEED = Number(process.env['RANDOM_DRAWINGS_SEED'] ?? 2);
/** The limit after which the shrinking of a failure stops. */
const LIMIT_MS = 150_000;

// Most tapes are long enough for all decisions of a drawing; the missing numbers of shorter ones make it simpler.
const numbers = fc.noBias(fc.array(fc.nat(5039), { minLength: 40, maxLength: 160, size: 'max' }));
const tapes = fc.tuple(numbers, numbers);

/** Plays and judges one drawing. An error describes the drawing. */
function tryOut(machine: Machine, [drawn, order]: [number[], number[]]): Played {
  const drawing = readDrawing(new Tape(drawn));
  try {
    const played = play(machine, drawing, new Tape(order));
    judge(drawing, played);
    return played;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${describeDrawing(drawing)}`, {
      cause: error,
    });
  }
}

function describeDrawing(drawing: RandomDrawing): string {
  const behaviours = JSON.stringify(drawing, (key, value: unknown) => (key === 'links' ? undefined : value));
  return `Drawing: ${JSON.stringify(toDocument(drawing))}\nBehaviour: ${behaviours}`;
}

describe('runs of random drawings', function () {
  this.timeout(LIMIT_MS + 30_000);

  it('execute exactly what they must, once, with the right results and end, in any order, over any executions', () => {
    const machine = new WorkflowMachine(readFileSync(BUNDLE, 'utf8'));
    const seen = { loops: 0, deep: 0, continued: 0, failed: 0, stopped: 0, cancelled: 0 };
    fc.assert(
      fc.property(tapes, (pair) => {
        const { events, results, executions, ends } = tryOut(machine, pair);
        seen.loops += Number(results.size > 0);
        seen.deep += Number(events.some(({ path: at }) => at.split('/').length === 3));
        seen.continued += Number(executions > 1);
        seen.failed += Number(ends[0]!.status === 'failed');
        seen.cancelled += Number(ends[0]!.status === 'cancelled');
        seen.stopped += Number(events.some((event) => event.what === 'ends' && event.outcome === 'cancelled'));
      }),
      { numRuns: RUNS, seed: SEED, interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: true },
    );
    // Each kind of outcome must be frequent enough.
    for (const [kind, count] of Object.entries(seen)) assert.ok(count > RUNS / 200, `${kind}: ${count}`);
  });

  it('do the same on replay, where results of local activities come at once that came one after the other', () => {
    const isReplayable = (code: string) => {
      const machine = new ReplayedMachine(code);
      const property = fc.property(tapes, (pair) => void tryOut(machine, pair));
      return fc.check(property, { numRuns: RUNS / 2, seed: SEED, endOnFailure: true });
    };
    const shipped = isReplayable(readFileSync(BUNDLE, 'utf8'));
    assert.equal(shipped.failed, false, String(shipped.errorInstance));
    const find = 'for (const part of parts) {';
    const atOnce = {
      file: 'temporal-workflows/interceptors.ts',
      find,
      replace: 'for (const part of [parts.flat()]) {',
    };
    const { failed, numRuns } = isReplayable(bundleWith([atOnce]));
    assert.ok(failed, `none of ${numRuns} drawings needs the order`);
  });

  /** Mistakes that a change of the run workflow could make. */
  const mistakes: Record<string, Change> = {
    'forgets to skip the nodes behind a way that is not taken': {
      file: 'graph/planner.ts',
      find: 'edges.push({ to: after, isLive: false });',
      replace: 'void after;',
    },
    'starts a node that joins any again': {
      file: 'graph/planner.ts',
      find: 'if (this.#states[to] !== NodeState.waiting)',
      replace: 'if (isSettled(this.#states[to]))',
    },
    'loses what is ready when it continues as new': {
      file: 'graph/planner.ts',
      find: 'queue: this.#queue.slice(this.#head),',
      replace: 'queue: [],',
    },
    'loses an open iteration when it continues as new': {
      file: 'temporal-workflows/loop-run.ts',
      find: 'open: [...this.#open].map(',
      replace: 'open: [...this.#open].slice(1).map(',
    },
    'begins an iteration again that has begun before it continued as new': {
      file: 'temporal-workflows/loop-run.ts',
      find: 'next: this.#next,',
      replace: 'next: this.#next - 1,',
    },
    'forgets the failure of an iteration when it continues as new': {
      file: 'temporal-workflows/scope.ts',
      find: '...(this.#failure !== undefined && { failure: this.#failure }),',
      replace: '',
    },
    'forgets how many rounds there were when it continues as new': {
      file: 'temporal-workflows/loop-run.ts',
      find: '...(this.#rounds > 0 && { rounds: this.#rounds }),',
      replace: '',
    },
    'lets the other iterations of a loop go on that has failed': {
      file: 'temporal-workflows/loop-run.ts',
      find: 'this.stop();\n            await Promise.allSettled(lanes);',
      replace: 'await Promise.allSettled(lanes);',
    },
    'catches what nothing may catch': {
      file: 'temporal-workflows/loop-run.ts',
      find: 'survivesFailures && (0,_graph_caught_js__WEBPACK_IMPORTED_MODULE_1__.mayBeCaught)(code)',
      replace: 'survivesFailures',
    },
    'opens an iteration of a loop that was stopped meanwhile': {
      file: 'temporal-workflows/loop-run.ts',
      find: 'if (this.#isStopped)',
      replace: 'if (false)',
    },
    'resumes loops in an iteration that has failed': {
      file: 'temporal-workflows/graph-run.ts',
      find: 'if (scope.isStopped)\n            return;',
      replace: '',
    },
    'begins an iteration in two lanes after it has continued as new': {
      file: 'temporal-workflows/scope.ts',
      find: 'this.#next = resumed?.next;',
      replace: '',
    },
    'takes a part of the run for all that is left of it': {
      file: 'graph/stretch.ts',
      find: 'nodes.length === planner.open && { isRest: true }',
      replace: '{ isRest: true }',
    },
    'lets an activity walk into a node that waits for others': {
      file: 'graph/stretch.ts',
      find: 'found !== planner.linksAwaitedBy(to)',
      replace: 'planner.linksAwaitedBy(to) === undefined',
    },
    'forgets what an activity on which Temporal has given up has done': {
      file: 'temporal-workflows/graph-run.ts',
      find: 'nodes: mayWalk,',
      replace: 'nodes: [node],',
    },
    'takes another way after a failure that is caught': {
      file: 'graph/planner.ts',
      find: 'this.#settleEdges(node, [taken]);',
      replace: 'this.#settleEdges(node, [0]);',
    },
  };

  for (const [mistake, change] of Object.entries(mistakes)) {
    it(`show a build that ${mistake}`, () => {
      const machine = new WorkflowMachine(bundleWith([change]));
      const property = fc.property(tapes, (pair) => void tryOut(machine, pair));
      const { failed, numRuns } = fc.check(property, { numRuns: MOST_RUNS, seed: SEED, endOnFailure: true });
      assert.ok(failed, `none of ${numRuns} drawings shows it`);
    });
  }
});
