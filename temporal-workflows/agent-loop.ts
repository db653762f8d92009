// The loop of an agent node: model call, approvals, tool calls. A tool that is a workflow starts a run, and the agent
// waits for its end. A repeated activity returns its stored outcome, and the cursor names the step to continue from, so
// the loop survives worker deaths and continue-as-new.
import type { ChildToStart, ToolsFacts, WaitFacts, Walked, WalkRef } from '../contract/activities.js';
import type { AgentCursor } from '../contract/run-workflow.js';
import type { NodeKey } from '../graph/plan.js';
import { callTools, callModel, type Place } from './activity-options.js';
import { AGAIN_AFTER_MS } from './wait.js';

export interface AgentHost {
  /** Called before the cursor's next step. The next execution continues from this cursor. */
  remember(cursor: AgentCursor): void;
  /** Called before each step. Never resolves once the run drains for continue-as-new. */
  gate(): Promise<void>;
  /** Resolves when every request is decided or the deadline has passed. */
  decisions(cursor: AgentCursor): Promise<void>;
  /**
   * Resolves when the connection of the wait is ready or was deleted, or at `wait.untilMs`. Never resolves once the run
   * drains.
   */
  connected(wait: WaitFacts): Promise<void>;
  startRun(child: ChildToStart): Promise<void>;
  /** Called when the agent belongs to another pool than the one whose worker took its activity. */
  isElsewhere(): void;
  /**
   * Resolves when a run that a tool call has started has ended, or at `untilMs`. Never resolves once the agent's own
   * run drains.
   */
  runEnded(untilMs: number): Promise<void>;
}

export const FIRST_STEP: AgentCursor = { turn: 0, requests: [], deadlineMs: 0 };

export interface AgentNode {
  key: NodeKey;
  /** Shown in the Temporal UI. */
  summary: string;
  /** Returns the place of the next activity: a promise if the run has to ask for it. */
  place: () => Place | Promise<Place>;
  /** Returns the nodes that the next turn's activity may walk through if that turn is the final one. */
  toWalk: (place: Place) => WalkRef;
}

export async function runAgent(
  host: AgentHost,
  { key, summary, place, toWalk }: AgentNode,
  from: AgentCursor,
): Promise<Walked> {
  for (let cursor = from; ; cursor = { turn: cursor.turn + 1, requests: [], deadlineMs: 0 }) {
    const { turn } = cursor;
    const step = { ...key, turn };
    host.remember(cursor);
    if (cursor.requests.length === 0 && cursor.runsUntilMs === undefined) {
      await host.gate();
      const callHere = (at: Place) => callModel({ ...toWalk(at), turn }, summary, at);
      const result = await connected(host, () => inPlace(place, callHere));
      const { final, approvals, waitMs } = result;
      if (final !== undefined) return final;
      cursor = { turn, requests: approvals, deadlineMs: Date.now() + waitMs };
      host.remember(cursor);
    }
    await useTools(host, cursor, () => connected(host, () => inPlace(place, (at) => callTools(step, summary, at))));
  }
}

/**
 * Must not await anything if the run has no pools: an `await` would change the order of the commands, and the histories
 * of earlier runs are replayed in the order without it.
 */
function inPlace<Facts>(place: AgentNode['place'], call: (at: Place) => Promise<Facts>): Promise<Facts> {
  const at = place();
  return at instanceof Promise ? at.then(call) : call(at);
}

/** Repeats a step until its connection needs no sign-in and a worker of the agent's pool has executed the step. */
async function connected<Facts extends { wait?: WaitFacts; isElsewhere?: true } | undefined>(
  host: AgentHost,
  step: () => Promise<Facts>,
): Promise<Facts> {
  for (;;) {
    const facts = await step();
    if (facts?.isElsewhere === true) host.isElsewhere();
    else if (facts?.wait === undefined) return facts;
    else await host.connected(facts.wait);
  }
}

/** Resolves when every tool call of the turn has a result. */
async function useTools(
  host: AgentHost,
  cursor: AgentCursor,
  call: () => Promise<ToolsFacts | undefined>,
): Promise<void> {
  let untilMs = cursor.runsUntilMs;
  if (untilMs === undefined) {
    await host.decisions(cursor);
    await host.gate();
    const open = await call();
    if (open === undefined) return;
    untilMs = open.untilMs;
    host.remember({ ...cursor, runsUntilMs: untilMs });
    for (const run of open.runs) await host.startRun(run);
  }
  for (let next = untilMs; ; next = Math.max(untilMs, Date.now() + AGAIN_AFTER_MS)) {
    await host.runEnded(next);
    if ((await call()) === undefined) return;
  }
}
