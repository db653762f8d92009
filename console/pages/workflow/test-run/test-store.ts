// Stores the runs and tests that the editor follows, and the last result of each node.
import type { components, paths } from '../../../../clients/typescript/src/index.js';
import type { Drawing } from '../../../drawing/drawing.js';
import type { LiveRun, NodeEntry } from '../../../live/live-run.js';
import { foundInLoops, statusOf } from '../../../live/node-status.js';
import { createStore, type Store, type Stored } from '../../../ui/store.js';

export type Pin = components['schemas']['Pin'];

/** `node`: only this node. `up_to`: the node and everything that it needs. `from`: the node and everything after it. */
export type TestMode = NonNullable<
  paths['/api/v1/workflows/{id}/test/']['post']['requestBody']
>['content']['application/json']['mode'];

/** A test that the person has requested. The dialog `Test` is open for it, or it has been started. */
export interface RequestedTest {
  nodeId: string;
  mode: TestMode;
}

/** A run or test whose nodes are shown in the editor. */
export interface TestRun {
  runId: string;
  /** Set for tests that the person started in this editor. */
  asked?: RequestedTest;
  /** True for a run that the person has chosen from the list, unless it is the newest. */
  isEarlier?: boolean;
  /** The drawing that runs. Undefined for a run that was found or chosen: its drawing is then loaded with the run. */
  drawing?: Drawing;
}

export function originOfRun({ isEarlier }: TestRun): string {
  return isEarlier === true ? 'of an earlier run' : 'of the last run';
}

export interface NodeTest {
  runId: string;
  /** When the service accepted the run, by its clock. */
  startedAt: string;
  entry: NodeEntry;
  status: string;
  isWriting: boolean;
  /** The drawing with which the node was executed. */
  drawing: Drawing;
}

export interface TestState {
  asked: RequestedTest | undefined;
  /** The node whose pin is being written. */
  pinned: string | undefined;
  last: TestRun | undefined;
  /** The last run of the whole workflow, or the one that the person has chosen. */
  run: TestRun | undefined;
  results: ReadonlyMap<string, NodeTest>;
  pins: readonly Pin[];
  /** Input values that the person last entered for a test. The dialog `Test` offers them again, and `Try` uses them. */
  values: ReadonlyMap<string, string>;
}

interface Accepted {
  id: string;
  created_at: string;
}

export class TestStore implements Stored<TestState> {
  readonly #state: Store<TestState>;
  /** Ids of nodes whose calls may change something, and have been confirmed by a person. */
  readonly #confirmed = new Set<string>();
  readonly #announced = new Set<string>();
  readonly getState: () => TestState;
  readonly subscribe: Stored<TestState>['subscribe'];

  constructor() {
    this.#state = createStore<TestState>({
      asked: undefined,
      pinned: undefined,
      last: undefined,
      run: undefined,
      results: new Map(),
      pins: [],
      values: new Map(),
    });
    this.getState = this.#state.getState;
    this.subscribe = this.#state.subscribe;
  }

  readonly ask = (asked: RequestedTest | undefined): void => this.#set({ asked });

  readonly editPin = (nodeId: string | undefined): void => this.#set({ pinned: nodeId });

  readonly setPins = (pins: readonly Pin[]): void => this.#set({ pins });

  /** Calls of these nodes need no further confirmation, in whichever test, until this store is dropped. */
  confirm(nodeIds: Iterable<string>): void {
    for (const id of nodeIds) this.#confirmed.add(id);
  }

  isConfirmed(nodeId: string): boolean {
    return this.#confirmed.has(nodeId);
  }

  /** True for the first call with a text. A run that another part of the page follows anew is not announced again. */
  isFirst(announcement: string): boolean {
    const isFirst = !this.#announced.has(announcement);
    this.#announced.add(announcement);
    return isFirst;
  }

  begin(last: TestRun, values: ReadonlyMap<string, string>): void {
    this.#set({ asked: undefined, last, values });
  }

  /** Follows a run of the whole workflow. Clears all earlier results, so that the canvas shows this run only. */
  startRun(run: TestRun): void {
    this.#set({ run, last: undefined, results: new Map() });
  }

  /** Follows the loaded latest run, and the loaded latest test if it is newer. Neither replaces newer results. */
  find(run: Accepted | undefined, test: Accepted | undefined): void {
    const { last, run: knownRun, results } = this.getState();
    const isNew = (found: Accepted | undefined, known: TestRun | undefined): found is Accepted =>
      found !== undefined &&
      found.id !== known?.runId &&
      [...results.values()].every(({ startedAt }) => startedAt < found.created_at);
    if (isNew(run, knownRun)) this.startRun({ runId: run.id });
    const isLatest = run === undefined || (test !== undefined && run.created_at < test.created_at);
    if (isLatest && isNew(test, last)) this.#set({ last: { runId: test.id } });
  }

  /**
   * Stores results of a run or test. Older results never replace newer ones, and reused ones replace none. Results from
   * pins are not stored. If a node has results in several iterations, the one whose status ranks first
   * (console/live/node-status.ts) counts.
   */
  record(
    { runId, startedAt, drawing }: Pick<NodeTest, 'runId' | 'startedAt' | 'drawing'>,
    live: LiveRun,
    writing: ReadonlySet<string> = new Set(),
  ): void {
    const before = this.getState().results;
    const results = new Map(before);
    const take = (id: string, entry: NodeEntry, status: string): void => {
      const known = before.get(id);
      const isReused = entry.reused === true && (known !== undefined || entry.source === 'pin');
      const isOlder = known !== undefined && known.startedAt > startedAt;
      const isWriting = status === 'in progress' && writing.has(id);
      const isKnown = known?.entry === entry && known.status === status && known.isWriting === isWriting;
      if (!isReused && !isOlder && !isKnown) results.set(id, { runId, startedAt, entry, status, isWriting, drawing });
    };
    for (const [id, { entry, status }] of foundInLoops(live)) take(id, entry, status);
    for (const [key, entry] of live.nodes) {
      if ((entry.path ?? '') === '') take(entry.id, entry, statusOf(entry, live.pending.has(key)));
    }
    if ([...results].some(([id, result]) => before.get(id) !== result)) this.#set({ results });
  }

  #set(change: Partial<TestState>): void {
    this.#state.setState({ ...this.getState(), ...change });
  }
}
