import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { readHistoryFile } from '../../cli/replay/histories.js';
import { replayHistories } from '../../cli/replay/replay-histories.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import type { Plan } from '../../graph/plan.js';
import type { RunGraphInput } from '../../contract/run-workflow.js';
import { unexecutedCode } from '../replay/executed-code.js';
import { CURRENT_VERSION, historyFiles } from '../replay/history-files.js';
import { scenariosOverExecutions } from '../replay/scenarios-over-executions.js';
import { scenariosDense } from '../replay/scenarios-dense.js';
import { scenarios } from '../replay/scenarios.js';
import { bundleWith, type Change } from '../support/doctored-bundle.js';

const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');
const files = historyFiles();
const recorded = files.map((file) => ({ ...file, ...readHistoryFile(file.path) }));

/** Code that no run of a real graph reaches. Any other code that is not executed needs a scenario: test/replay/. */
const UNREACHED = [
  // A run that starts to drain between the last iteration and the end of its loop.
  'loop-run.ts: && { failure: this.#failure }',
  'loop-run.ts: && { isOver: true }',
  'loop-run.ts: started = [];',
  // A loop that is stopped between two iterations.
  "loop-run.ts: throw new _temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.CancelledFailure('The loop was stopped.');",
  // random-drawings.test.ts covers nodes that an activity has not started, and failures in a run that is being stopped.
  'graph-run.ts: else scope.planner.putBack(node);',
  'graph-run.ts: break;',
  'graph-run.ts: : undefined',
  'planner.ts: putBack(node) { this.#states[node] = NodeState.ready; this.#queue.push(node); }',
  'planner.ts: : undefined',
  'interceptors.ts: localActivities.cancel(`${cancel.seq}`);',
  'interceptors.ts: ? new _temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.CancelledFailure(error.message)',
  // Only activities call these methods.
  'planner.ts: hasSettled(node) { return isSettled(this.#states[node]); }',
  'planner.ts: isReady(node) { return this.#states[node] === NodeState.ready; }',
  'planner.ts: ready() { return this.#queue.slice(this.#head); }',
  // Large stretches, which test/graph/stretch.test.ts covers.
  'stretch.ts: return nodes;',
  'planner.ts: throw new Error(`node ${node} is not ready`);', // only a bug reaches this
  'child-runs.ts: return;', // a thousand children that are open at once
  'child-runs.ts: throw error;', // only a bug reaches this
  'scheduled-run.ts: () => undefined', // a run that ends while it is being cancelled
  'scope.ts: () => undefined', // replaced by the constructor
  'graph-run.ts: () => undefined', // replaced before anything can wake the run
  // Queries are not recorded.
  'graph-run.ts: #toLive(scope, node) { const waiting = this.#waiting.waitingOf(scope.path, node); return { id: scope.plan.ids[node], path: scope.path, ...(waiting && { waiting }) }; }',
  'graph-run.ts: status() { const live = this.#scopes .all() .flatMap((scope) => scope.planner.running().map((node) => this.#toLive(scope, node))); return { phase: this.#phase, states: this.#root.planner.states(), live }; }',
  'scope.ts: all() { return [...this.#scopes]; }',
  'waiting-nodes.ts: waitingOf(path, node) { return this.#parked.get(keyOf(path, node))?.waiting; }',
  'planner.ts: running() { const running = []; for (const [node, state] of this.#states.entries()) if (state === NodeState.running) running.push(node); return running; }',
  'run-graph.ts: () => run.status()',
  'graph-run.ts: this.#becomeIdle();', // `#stop` while nothing is open: the run is idle already
  "node-failure.ts: : 'internal_error'", // only a bug reaches this
  "node-failure.ts: ?? 'internal_error'",
  'planner.ts: throw new Error(`node ${node} settled twice`);',
  'planner.ts: { this.#queue = this.#queue.slice(this.#head); this.#head = 0; }', // after 1,024 nodes; planner.test.ts
];

/** Returns the names of the histories that a build cannot continue, each with the reason. */
async function problemsOf(bundle: string, histories = recorded): Promise<Map<string, string>> {
  const problems = new Map<string, string>();
  let index = 0;
  for await (const { problem } of replayHistories(histories, { codePath: bundle })) {
    const { name } = histories[index++]!;
    if (problem !== undefined) problems.set(name, problem);
  }
  assert.equal(index, histories.length, 'every history was replayed');
  return problems;
}

/** Returns an empty input for a workflow that a schedule starts, because it has none. */
function inputOf(history: unknown): Partial<RunGraphInput> {
  const [started] = (history as History).events!;
  const [payload] = started!.workflowExecutionStartedEventAttributes!.input?.payloads ?? [];
  return payload === undefined ? {} : (JSON.parse(Buffer.from(payload.data!).toString()) as RunGraphInput);
}

/** The nodes that no condition can have skipped, in a run that completed. A loop is assumed to have iterations. */
function surelyExecuted({ out, bodies = {} }: Plan): number[] {
  const nodes = new Set([0]);
  for (const node of nodes) {
    for (const [to, handle] of out[node]!) if (handle === 0 || node in bodies) nodes.add(to);
  }
  return [...nodes];
}

describe('recorded runs', function () {
  this.timeout(120_000);

  it('of every version are replayed by this build, and between them execute all code of the run workflow', async () => {
    let problems = new Map<string, string>();
    const skipped = await unexecutedCode(BUNDLE, async () => void (problems = await problemsOf(BUNDLE)));
    assert.deepEqual(Object.fromEntries(problems), {});
    assert.deepEqual(skipped.toSorted(), UNREACHED.toSorted());
  });

  it('are there for every scenario, and have one', () => {
    const current = files.filter(({ version }) => version === CURRENT_VERSION);
    const expected = Object.keys({
      ...scenarios,
      ...scenariosDense,
      ...scenariosOverExecutions,
    }).toSorted();
    assert.deepEqual([...new Set(current.map(({ scenario }) => scenario))].toSorted(), expected);
  });

  it('are there for every node kind', () => {
    const completed = recorded.filter(
      ({ history }) => (history as History).events!.at(-1)!.workflowExecutionCompletedEventAttributes,
    );
    const kinds = completed.flatMap(({ history }) => {
      const { plan } = inputOf(history);
      if (plan === undefined) return [];
      return surelyExecuted(plan).map((node) => plan.kinds[node]!);
    });
    for (const kind of Object.keys(nodeDefinitions)) {
      assert.ok(kinds.includes(kind as (typeof kinds)[number]), `no recorded run has a node of kind ${kind}`);
    }
  });

  it('name no machine', () => {
    for (const { name, history } of recorded) {
      const text = JSON.stringify((history as History & { toJSON: () => unknown }).toJSON());
      assert.doesNotMatch(text, /"identity":"(?!recorded")/, name);
      assert.doesNotMatch(text, /\bat \/|node_modules|file:/, name);
    }
  });
});

describe('a build that decides differently', function () {
  this.timeout(120_000);
  let folder: string;

  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'doctored-bundle-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Replays the recordings of `scenariosThatTell`, which should reveal the changes. */
  async function problemsWith(changes: Change[], scenariosThatTell: string[]): Promise<Map<string, string>> {
    const bundle = path.join(folder, 'bundle.js');
    writeFileSync(bundle, bundleWith(changes));
    return problemsOf(
      bundle,
      recorded.filter(({ scenario }) => scenariosThatTell.includes(scenario)),
    );
  }

  it('is found out when it starts nodes in another order', async () => {
    const find = 'this.#queue.push(to)';
    const problems = await problemsWith(
      [{ file: 'graph/planner.ts', find, replace: 'this.#queue.splice(this.#head, 0, to)' }],
      ['fan-out', 'cancelled-in-flight', 'continued-before-a-join', 'http'],
    );
    for (const name of ['fan-out.1', 'cancelled-in-flight.1', 'continued-before-a-join.1']) {
      assert.match(problems.get(`1/${name}.json`) ?? '', /nondeterminism/i, name);
    }
    assert.equal(problems.has('1/http.1.json'), false, 'one node after the other is no other order');
  });

  it('is found out when it calls one more activity', async () => {
    // In such a run the activity of the node has already written the run's end.
    const find = 'if (!run.isEndWritten)';
    const problems = await problemsWith([{ file: 'temporal-workflows/run-graph.ts', find, replace: '' }], ['http']);
    assert.match(problems.get('1/http.1.json') ?? '', /nondeterminism/i);
  });

  it('is found out when a node kind becomes another activity', async () => {
    const replace = "inActivity[activity === 'httpRequest' ? 'llmRequest' : activity]";
    const problems = await problemsWith(
      [{ file: 'temporal-workflows/activity-options.ts', find: 'proxy[activity]', replace }],
      ['http', 'llm'],
    );
    assert.match(problems.get('1/http.1.json') ?? '', /nondeterminism/i);
    assert.equal(problems.has('1/llm.1.json'), false);
  });

  it('is found out when an agent goes on from another step after continue-as-new', async () => {
    const problems = await problemsWith(
      [{ file: 'temporal-workflows/waiting-nodes.ts', find: 'this.#agents.get(key)?.state', replace: 'undefined' }],
      ['continued-with-parked-agent'],
    );
    assert.match(problems.get('1/continued-with-parked-agent.2.json') ?? '', /nondeterminism/i);
  });

  it('is found out when a run that goes on forgets that a node was woken', async () => {
    const problems = await problemsWith(
      [{ file: 'temporal-workflows/waiting-nodes.ts', find: 'new Set(resumed?.woken)', replace: 'new Set()' }],
      ['continued-with-waits'],
    );
    assert.match(problems.get('1/continued-with-waits.2.json') ?? '', /nondeterminism/i);
  });

  it('passes when it only waits longer or says other words', async () => {
    const problems = await problemsWith(
      [
        {
          file: 'temporal-workflows/activity-options.ts',
          find: "startToCloseTimeout: '4h'",
          replace: "startToCloseTimeout: '5h'",
        },
        { file: 'temporal-workflows/graph-run.ts', find: 'nodes succeeded', replace: 'steps done' },
      ],
      ['agent-several-turns', 'http', 'fan-out', 'cancelled-in-flight'],
    );
    assert.deepEqual(Object.fromEntries(problems), {});
  });
});
