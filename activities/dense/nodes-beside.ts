// Nodes that an activity does side by side, where whatever follows them waits for all of them anyway
// (docs/adr/0018-nodes-side-by-side.md). Each is recorded as soon as it has ended, as if it had an activity of its own.
//
// When the process dies, the activity is repeated: what is recorded is found, and what was on the wire is tried once more
// or, where it must not be, fails. The first node that fails has the others stop, as the end of the run does.
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { finalFailure, isFinal, retryDelayOf, type DoneNodes } from '../node/failures.js';
import type { NodeFacts, NodeTurn } from '../node/run-node.js';
import type { Slots } from './slots.js';

/** A node that is not done, by its place, and after how many milliseconds it is to go on in an activity of its own. */
export type Undone = [place: number, goOnAfterMs: number];

interface BesideDeps {
  doNode: (turn: NodeTurn) => Promise<NodeFacts>;
  /** The activity has one already. */
  slots: Slots;
}

/** Beyond that the node is better off in Temporal's queue, where another worker may take it. */
const WAIT_FOR_SLOT_MS = 1_000;

/**
 * Rejects with the failure that has ended a node for good, once the others have stopped, or when the activity is
 * cancelled. Keeps in `all` which are done, and which has failed.
 */
export async function doBeside(turns: NodeTurn[], { doNode, slots }: BesideDeps, all: DoneNodes): Promise<Undone[]> {
  const { cancellationSignal } = Context.current();
  const givingUp = new AbortController();
  const done: number[] = (all.beside = []);
  const undone: Undone[] = [];
  let failure: unknown;
  const doOne = async (turn: NodeTurn, place: number): Promise<void> => {
    try {
      const { goOnAfterMs } = await doNode({ ...turn, givenUp: givingUp.signal });
      if (goOnAfterMs === undefined) done.push(place);
      else undone.push([place, goOnAfterMs]);
    } catch (error) {
      if (failure !== undefined) return;
      if (error instanceof ApplicationFailure && isFinal(error)) {
        all.failed = place;
        failure = finalFailure(error.type ?? 'internal_error', all);
        givingUp.abort(new CancelledFailure('A node beside it has failed.'));
      } else if (cancellationSignal.aborted) failure = error;
      // Where something of ours went wrong, the node's own activity says so, and is tried until it gets through.
      else undone.push([place, retryDelayOf(error) ?? 0]);
    }
  };
  const stop = AbortSignal.any([cancellationSignal, givingUp.signal]);
  const doInSlot = async (turn: NodeTurn, place: number): Promise<void> => {
    if (place === 0) return doOne(turn, place);
    if (!(await slots.take(WAIT_FOR_SLOT_MS, stop))) return void undone.push([place, 0]);
    await doOne(turn, place).finally(() => slots.release());
  };
  await Promise.all(turns.map(doInSlot));
  if (failure !== undefined) throw failure as Error;
  delete all.beside;
  return undone;
}
