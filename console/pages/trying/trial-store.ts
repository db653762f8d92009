// The tests of a workflow that is being drawn: the one that runs or ran last, and the last result of every node.
import { createContext, use, useEffect, useState } from 'react';
import { queryClient } from '../../app/queries.js';
import type { Drawing } from '../../drawing/drawing.js';
import type { LiveRun, NodeEntry } from '../../live/live-run.js';
import { statusOf } from '../../live/node-status.js';
import { createStore, useStored, type Store, type Stored } from '../../ui/store.js';
import type { Pin, TrialMode } from './trying-calls.js';

/** A wish to try a node. The dialog `Test` asks about it. */
export interface AskedTrial {
  nodeId: string;
  mode: TrialMode;
}

export interface Trial extends AskedTrial {
  runId: string;
  /** The drawing that is tried. */
  drawing: Drawing;
  /** Whether the run has everything from the start of the drawing. */
  isWhole: boolean;
}

/** The last result of a node. */
export interface NodeTrial {
  runId: string;
  entry: NodeEntry;
  status: string;
  /** The drawing in which the node was tried. */
  drawing: Drawing;
}

interface TrialState {
  asked: AskedTrial | undefined;
  last: Trial | undefined;
  results: ReadonlyMap<string, NodeTrial>;
  pins: readonly Pin[];
  /** The values of the input fields of the last test, with which the next one begins. */
  values: ReadonlyMap<string, string>;
}

export class TrialStore implements Stored<TrialState> {
  readonly #state: Store<TrialState>;
  readonly getState: () => TrialState;
  readonly subscribe: Stored<TrialState>['subscribe'];

  constructor() {
    this.#state = createStore<TrialState>({
      asked: undefined,
      last: undefined,
      results: new Map(),
      pins: [],
      values: new Map(),
    });
    this.getState = this.#state.getState;
    this.subscribe = this.#state.subscribe;
  }

  readonly ask = (asked: AskedTrial | undefined): void => this.#set({ asked });

  readonly setPins = (pins: readonly Pin[]): void => this.#set({ pins });

  begin(last: Trial, values: ReadonlyMap<string, string>): void {
    this.#set({ asked: undefined, last, values });
  }

  /** Takes over what a test has found out. A result that was only taken from elsewhere replaces none. */
  record({ runId, drawing }: Trial, live: LiveRun): void {
    const before = this.getState().results;
    const results = new Map(before);
    for (const [key, entry] of live.nodes) {
      const known = before.get(key);
      const isTaken = entry.reused === true && (known !== undefined || entry.source === 'pin');
      if ((entry.path ?? '') !== '' || isTaken || known?.entry === entry) continue;
      results.set(key, { runId, entry, status: statusOf(entry, live.pending.has(key)), drawing });
    }
    // What waits for a person changes its status without a new entry.
    for (const [key, known] of results) {
      if (known.runId !== runId) continue;
      const status = statusOf(known.entry, live.pending.has(key));
      if (status !== known.status) results.set(key, { ...known, status });
    }
    this.#set({ results });
  }

  #set(change: Partial<TrialState>): void {
    this.#state.setState({ ...this.getState(), ...change });
  }
}

/**
 * Returns the tests of a workflow. They are kept for some minutes after the editor is left, so that a look at the page of a
 * run does not lose them.
 */
export function useTrialStore(workflowId: number): TrialStore {
  const [store] = useState(() => queryClient.getQueryData<TrialStore>(keyOf(workflowId)) ?? new TrialStore());
  useEffect(() => {
    queryClient.removeQueries({ queryKey: keyOf(workflowId) });
    return () => void queryClient.setQueryData(keyOf(workflowId), store);
  }, [workflowId, store]);
  return store;
}

function keyOf(workflowId: number): readonly unknown[] {
  return ['workflow', workflowId, 'trials'];
}

/** The store never changes while a workflow is open, so nothing renders because of the context. */
export const TrialContext = createContext<TrialStore | undefined>(undefined);

export function useTrials(): TrialStore {
  const store = use(TrialContext);
  if (store === undefined) throw new Error('There is no editor around this component.');
  return store;
}

/** `pick` must return a part of the state, and no new object. */
export function useTrial<T>(pick: (state: TrialState) => T): T {
  return useStored(useTrials(), pick);
}
