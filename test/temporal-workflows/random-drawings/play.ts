// Simulates everything around one run of a random drawing: Temporal's server and the activities. A tape decides in
// which order results are delivered and when the run must continue as new. Records the events of the run.
import type { Payload } from '@temporalio/common';
import { compilePlan } from '../../../graph/compile-plan.js';
import type {
  EndIterationFacts,
  EndIterationRef,
  EndLoopRef,
  FinishRunInput,
  LoopFacts,
  SettleWalkRef,
  Walked,
  WalkedEnd,
  WalkRef,
} from '../../../contract/activities.js';
import { CANCELLED_LOCALLY } from '../../../contract/local-activities.js';
import type { RunGraphInput } from '../../../contract/run-workflow.js';
import { mayBeCaught } from '../../../graph/caught.js';
import { innermostLoop } from '../../../graph/iteration-path.js';
import { bodyPlan, handleAfter, rootPlan, type Handle, type Plan, type ScopePlan } from '../../../graph/plan.js';
import { StretchPlan } from '../../../graph/stretch-plan.js';
import {
  fromPayload,
  toPayload,
  type Command,
  type Job,
  type WorkflowMachine,
} from '../../support/workflow-machine.js';
import { behaviourOf, outputOf, toDocument, type RandomDrawing, type Step, type Tape, type Way } from './drawing.js';
import { keyOf, pathOf, type LoopResult } from './oracle.js';

type Outcome = 'ok' | 'failed' | 'cancelled';

/**
 * The events of the run in order. `at` is the number of the activation, which delivers results before nodes start.
 */
export type Event = { at: number; path: string; id: string } & (
  | { what: 'starts' }
  /** An attempt has ended, and another one follows. */
  | { what: 'pauses' | 'goes on' }
  | { what: 'ends'; outcome: Outcome; code?: string }
  | { what: 'iteration ends'; index: number; code?: string; isCaught: boolean }
);

export interface Played {
  events: Event[];
  /** The results of loops that have succeeded, by `keyOf`. */
  results: Map<string, LoopResult>;
  /** The reports of the run's end. */
  ends: Omit<FinishRunInput, 'runId'>[];
  /** The way in which the last execution was closed. */
  closed: 'completed' | 'failed' | 'cancelled';
  maxInFlight: number;
  isCancelled: boolean;
  executions: number;
}

interface Pending {
  isLocal: boolean;
  type: string;
  ref: WalkRef & EndIterationRef & EndLoopRef & FinishRunInput & SettleWalkRef;
  isCancelRequested: boolean;
}

/** `walked`: the nodes that a failing activity has walked through. */
type Answer = { facts: unknown } | { code: string; walked?: Walked } | 'given up' | 'cancelled';

const RUN_ID = 'run';
const MOST_ACTIVATIONS = 5_000;
const START_TO_CLOSE = 1;
/** The plan handles of ways, by the contract of activities with the run workflow (graph/plan.ts, graph/kinds.ts). */
const HANDLES: Record<Way, number> = { next: 0, error: 1000, yes: 1, no: 2, otherwise: 1, a: 100, b: 101 };

export type Machine = Pick<WorkflowMachine, 'start' | 'step' | 'suggestContinueAsNew'>;

/** Throws if the run does something that no server or activity would accept. */
export function play(machine: Machine, drawing: RandomDrawing, tape: Tape): Played {
  return new Player(machine, drawing, tape).play();
}

class Player {
  readonly #machine: Machine;
  readonly #drawing: RandomDrawing;
  readonly #tape: Tape;
  readonly #steps = new Map<string, Step>();
  readonly #behaviour;
  readonly #pending = new Map<number, Pending>();
  readonly #started = new Set<string>();
  /** Nodes that have failed and could not record it. */
  readonly #lost = new Set<string>();
  #plan: Plan | undefined;
  readonly #played: Played;
  /**
   * The values that activities have stored: the outcomes of nodes by iteration, and the outputs of iterations by loop.
   */
  readonly #ended = new Map<string, Map<string, 'ok' | 'failed'>>();
  readonly #iterations = new Map<string, Map<number, string | null>>();
  #at = 0;
  /** The number of activations until the server suggests continue-as-new; 0 for never. */
  #activationsUntilFull = 0;
  #cancelAt: number;

  constructor(machine: Machine, drawing: RandomDrawing, tape: Tape) {
    this.#machine = machine;
    this.#drawing = drawing;
    this.#tape = tape;
    this.#behaviour = behaviourOf(drawing);
    const add = (steps: readonly Step[]): void => {
      for (const step of steps) {
        this.#steps.set(step.id, step);
        add(step.body?.steps ?? []);
      }
    };
    add(drawing.steps);
    const maxInFlight = tape.rarely(3) ? 1 + tape.below(3) : 32;
    this.#cancelAt = tape.rarely(15) ? 1 + tape.below(20) : 0;
    this.#played = {
      events: [],
      results: new Map(),
      ends: [],
      closed: 'completed',
      maxInFlight,
      isCancelled: false,
      executions: 0,
    };
  }

  play(): Played {
    const compiled = compilePlan(toDocument(this.#drawing));
    if (!compiled.ok) throw new Error(`the drawing is not valid: ${JSON.stringify(compiled.errors)}`);
    this.#plan = compiled.plan;
    const stride = this.#tape.rarely(2) ? { stride: 'dense' as const } : {};
    const { maxInFlight } = this.#played;
    const input: RunGraphInput = { runId: RUN_ID, plan: compiled.plan, maxInFlight, ...stride };
    // A worker has already executed the trigger.
    const trigger = { path: '', nodeId: compiled.plan.ids[0]! };
    this.#begin(trigger);
    this.#end(trigger, 'ok');
    for (let args: Payload[] | undefined = [toPayload(input)]; args !== undefined;) args = this.#execute(args);
    return this.#played;
  }

  /** Returns the arguments of the next execution, if there is one. */
  #execute(args: Payload[]): Payload[] | undefined {
    this.#played.executions++;
    this.#activationsUntilFull = this.#tape.below(12);
    let commands = this.#machine.start(args);
    for (;;) {
      for (const command of commands) this.#take(command);
      const next = commands.find(({ continueAsNewWorkflowExecution }) => continueAsNewWorkflowExecution);
      if (next) {
        if (this.#pending.size > 0) throw new Error(`a new execution while ${this.#shown()} are in flight`);
        return next.continueAsNewWorkflowExecution!.arguments!;
      }
      if (this.#isClosedBy(commands)) return undefined;
      if (this.#pending.size === 0) throw new Error('the run waits for nothing');
      if (++this.#at > MOST_ACTIVATIONS) throw new Error('the run does not end');
      if (this.#activationsUntilFull > 0 && --this.#activationsUntilFull === 0)
        this.#machine.suggestContinueAsNew(true);
      commands = this.#machine.step(this.#jobs());
    }
  }

  #take(command: Command): void {
    const { scheduleActivity, scheduleLocalActivity, requestCancelActivity, requestCancelLocalActivity } = command;
    const scheduled = scheduleActivity ?? scheduleLocalActivity;
    if (scheduled) {
      const ref = fromPayload(scheduled.arguments![0]!) as Pending['ref'];
      const type = scheduled.activityType!;
      this.#pending.set(scheduled.seq!, { isLocal: !scheduleActivity, type, ref, isCancelRequested: false });
      if (this.#beginsNode(type)) this.#begin(ref);
    }
    const seq = (requestCancelActivity ?? requestCancelLocalActivity)?.seq;
    if (seq !== undefined && seq !== null && this.#pending.has(seq)) this.#pending.get(seq)!.isCancelRequested = true;
  }

  #isClosedBy(commands: readonly Command[]): boolean {
    for (const { completeWorkflowExecution, failWorkflowExecution, cancelWorkflowExecution } of commands) {
      if (!completeWorkflowExecution && !failWorkflowExecution && !cancelWorkflowExecution) continue;
      this.#played.closed = completeWorkflowExecution ? 'completed' : failWorkflowExecution ? 'failed' : 'cancelled';
      if (this.#pending.size > 0) throw new Error(`the run is closed while ${this.#shown()} are in flight`);
      return true;
    }
    return false;
  }

  #shown(): string {
    return [...this.#pending.values()].map(({ type, ref }) => `${type} of ${keyOf(ref.path, ref.nodeId)}`).join(', ');
  }

  /** The next jobs: the results of one or more activities, or a cancellation of the run. */
  #jobs(): Job[] {
    const jobs: Job[] = [];
    if (this.#at === this.#cancelAt) {
      this.#played.isCancelled = true;
      jobs.push({ variant: 'cancelWorkflow', cancelWorkflow: { reason: '' } });
    }
    for (let more = this.#tape.rarely(4) ? 3 : 1; more > 0 && this.#pending.size > 0; more--) {
      const seq = this.#tape.pick([...this.#pending.keys()]);
      const pending = this.#pending.get(seq)!;
      this.#pending.delete(seq);
      const { isLocal } = pending;
      jobs.push({ variant: 'resolveActivity', resolveActivity: { seq, isLocal, result: this.#resultOf(pending) } });
    }
    return jobs;
  }

  #resultOf(pending: Pending): NonNullable<Job['resolveActivity']>['result'] {
    const { isLocal, type } = pending;
    const answer =
      pending.isCancelRequested && !this.#tape.rarely(3) ? this.#cancelled(pending) : this.#answer(pending);
    if (typeof answer === 'object' && 'facts' in answer) return { completed: { result: toPayload(answer.facts) } };
    // A failure of a local activity is not wrapped.
    const wrapped = (cause: object): object =>
      isLocal ? cause : { message: '', activityFailureInfo: { activityType: { name: type } }, cause };
    if (answer === 'cancelled' && isLocal)
      return { failed: { failure: { applicationFailureInfo: { type: CANCELLED_LOCALLY, nonRetryable: true } } } };
    if (answer === 'cancelled') return { cancelled: { failure: wrapped({ message: '', canceledFailureInfo: {} }) } };
    if (answer === 'given up')
      return { failed: { failure: wrapped({ message: '', timeoutFailureInfo: { timeoutType: START_TO_CLOSE } }) } };
    const { code, walked } = answer;
    const details = walked === undefined ? {} : { details: { payloads: [toPayload(walked)] } };
    const applicationFailureInfo = { type: code, nonRetryable: true, ...details };
    return { failed: { failure: wrapped({ message: '', applicationFailureInfo }) } };
  }

  #cancelled({ type, ref }: Pending): Answer {
    if (this.#beginsNode(type) || type === 'endLoop') this.#note(ref, { what: 'ends', outcome: 'cancelled' });
    return 'cancelled';
  }

  #answer({ type, ref, isCancelRequested }: Pending): Answer {
    if (type === 'finishRun') {
      const { status, error } = ref;
      this.#played.ends.push({ status, ...(error && { error }) });
      return { facts: null };
    }
    if (type === 'settleWalk') return { facts: this.#settleWalk(ref) };
    if (type === 'endIteration') return { facts: this.#endIteration(ref) };
    if (type === 'endLoop') return this.#endLoop(ref);
    const step = this.#steps.get(ref.nodeId)!;
    if (step.body === undefined) return this.#walk(ref, isCancelRequested);
    if (!this.#behaviour.fails(step, ref.path)) return { facts: this.#beginLoop(step, ref.path) };
    const code = this.#behaviour.code(step);
    this.#end(ref, 'failed', code);
    return { code };
  }

  #planOf(path: string): ScopePlan {
    return path === ''
      ? rootPlan(this.#plan!)
      : bodyPlan(this.#plan!, this.#plan!.ids.indexOf(innermostLoop(path).nodeId));
  }

  /**
   * An activity may stop after any node, and the run workflow continues. Sometimes the activity asks for another
   * attempt of a node.
   */
  #walk(ref: WalkRef, isCancelRequested: boolean): Answer {
    const { path } = ref;
    const stretch = new StretchPlan(this.#planOf(path), ref);
    const walked: Walked = { ends: [] };
    const firsts = stretch.planner.ready();
    const later: number[] = [];
    let failure: string | undefined;
    // No further node starts in an activity that is to be cancelled.
    let isOver = isCancelRequested;
    for (
      let round = firsts;
      round.length > 0;
      round = isOver ? [] : stretch.next(ref.stride ?? 'visible', later.length > 0)
    ) {
      for (const place of round) {
        const isSpared = place > 0 && this.#tape.rarely(10);
        isOver ||= isSpared;
        if (isSpared || (isOver && place > 0)) continue;
        stretch.planner.markRunning(place);
        if (this.#tape.rarely(12)) {
          later.push(place);
          if (place > 0) this.#begin({ path, nodeId: stretch.plan.ids[place]! });
          this.#note({ path, nodeId: stretch.plan.ids[place]! }, { what: 'pauses' });
          continue;
        }
        const key = { path, nodeId: stretch.plan.ids[place]! };
        if (place > 0) this.#begin(key);
        const outcome = this.#executeNode(key);
        if (outcome === 'given up') return outcome;
        const number = stretch.numberOf(place);
        if (typeof outcome !== 'string') {
          walked.ends.push([number, ...outcome]);
          stretch.planner.succeed(place, ...outcome);
          continue;
        }
        walked.ends.push([number, outcome]);
        if (place === 0) failure = outcome;
        const handle = mayBeCaught(outcome) ? handleAfter(outcome, stretch.plan, place) : undefined;
        if (handle !== undefined) stretch.planner.survive(place, handle);
        else {
          stretch.planner.fail(place);
          const result: Walked = { ...walked };
          return failure === undefined ? { facts: result } : { code: failure, walked: result };
        }
      }
    }
    const mayEnd = ref.isRest === true && stretch.planner.open === 0 && !isCancelRequested;
    if (mayEnd && !this.#tape.rarely(6)) this.#endScope(ref, walked);
    later.push(...firsts.filter((place) => stretch.planner.isReady(place)));
    if (later.length > 0) walked.later = later.map((place) => [stretch.numberOf(place), 0]);
    return failure === undefined ? { facts: walked } : { code: failure, walked };
  }

  #endScope({ path, next }: WalkRef, walked: Walked): void {
    if (path === '') {
      this.#played.ends.push({ status: 'succeed' });
      walked.isRunEnded = true;
    } else {
      const end = { runId: RUN_ID, ...innermostLoop(path), ...(next !== undefined && { next }) };
      walked.iteration = this.#endIteration(end);
    }
  }

  /** Returns the handles by which the node is left, or the code with which it fails. */
  #executeNode(key: { path: string; nodeId: string }): [Handle, ...Handle[]] | string {
    const step = this.#steps.get(key.nodeId)!;
    if (this.#behaviour.fails(step, key.path)) {
      const code = this.#behaviour.code(step);
      if (step.failsBy === 'lost') {
        this.#lost.add(keyOf(key.path, key.nodeId));
        return 'given up';
      }
      this.#end(key, 'failed', code);
      return code;
    }
    this.#end(key, 'ok');
    return this.#waysOf(step, key.path);
  }

  #waysOf(step: Step, path: string): [Handle, ...Handle[]] {
    return this.#behaviour.ways(step, path).map((way) => HANDLES[way]) as [Handle, ...Handle[]];
  }

  /** Returns the stored ends of the nodes of an activity on which Temporal has given up. */
  #settleWalk({ path, nodes, begins = 1 }: SettleWalkRef): Walked {
    const plan = this.#planOf(path);
    const numbers = new Map(nodes.map((node) => [plan.ids[node]!, node]));
    for (const nodeId of numbers.keys()) {
      if (this.#lost.delete(keyOf(path, nodeId))) this.#end({ path, nodeId }, 'failed', 'timeout');
    }
    const ends = [...(this.#ended.get(path) ?? [])].flatMap(([id, outcome]): WalkedEnd[] => {
      const node = numbers.get(id);
      if (node === undefined) return [];
      const step = this.#steps.get(id)!;
      return [outcome === 'failed' ? [node, this.#behaviour.code(step)] : [node, ...this.#waysOf(step, path)]];
    });
    const ended = new Set(ends.map(([node]) => node));
    const later = nodes.slice(0, begins).filter((node) => !ended.has(node));
    return { ends, ...(later.length > 0 && { later: later.map((node): [number, number] => [node, 0]) }) };
  }

  #beginLoop(step: Step, path: string): LoopFacts {
    const { concurrency, most, onItemError } = step.body!;
    this.#iterations.set(keyOf(path, step.id), new Map());
    if (step.kind === 'loop') return { count: most, concurrency, survivesFailures: false, isConditional: true };
    const count = this.#behaviour.items(step, path);
    return { count, concurrency, survivesFailures: onItemError !== 'fail', isConditional: false };
  }

  #endIteration({ path, nodeId, index, failure }: EndIterationRef): EndIterationFacts {
    const step = this.#steps.get(nodeId)!;
    const iteration = pathOf(path, nodeId, index);
    const code = failure ?? (this.#behaviour.hasBadOutput(step, iteration) ? 'bad_output' : undefined);
    const isCaught = step.kind === 'for_each' && step.body!.onItemError !== 'fail' && code !== 'budget_exceeded';
    this.#note({ path, nodeId }, { what: 'iteration ends', index, isCaught, ...(code !== undefined && { code }) });
    const stored = this.#iterations.get(keyOf(path, nodeId))!;
    if (stored.has(index)) throw new Error(`${iteration} ends twice`);
    stored.set(index, code === undefined ? outputOf(iteration, this.#ended.get(iteration) ?? new Map()) : null);
    if (code !== undefined) return { failure: code };
    return step.kind === 'loop' && this.#behaviour.isOver(step, iteration) ? { isOver: true } : {};
  }

  #endLoop(ref: EndLoopRef): Answer {
    const step = this.#steps.get(ref.nodeId)!;
    const key = keyOf(ref.path, ref.nodeId);
    const { onLimit, onItemError } = step.body!;
    const hasFailed = step.kind === 'loop' && ref.isOver !== true && onLimit === 'fail';
    const code = ref.failure?.code ?? (hasFailed ? 'too_many_rounds' : undefined);
    this.#end(ref, code === undefined ? 'ok' : 'failed', code);
    if (code !== undefined) return { code };
    const stored = [...this.#iterations.get(key)!].toSorted(([left], [right]) => left - right);
    const outputs = stored.flatMap(([, output]) => (output === null && onItemError === 'skip' ? [] : [output]));
    const errors = stored.flatMap(([index, output]) => (output === null ? [index] : []));
    const rounds = ref.rounds ?? 0;
    this.#played.results.set(
      key,
      step.kind === 'loop'
        ? { output: this.#iterations.get(key)!.get(rounds - 1) ?? null, rounds }
        : { outputs, count: stored.length, errors },
    );
    return { facts: {} };
  }

  #beginsNode(type: string): boolean {
    return !['finishRun', 'settleWalk', 'endIteration', 'endLoop'].includes(type);
  }

  /** Records a further attempt of a node that has already started as `goes on`. */
  #begin({ path, nodeId }: { path: string; nodeId: string }): void {
    const key = keyOf(path, nodeId);
    if (this.#started.has(key)) return this.#note({ path, nodeId }, { what: 'goes on' });
    this.#started.add(key);
    this.#note({ path, nodeId }, { what: 'starts' });
  }

  #end(ref: { path: string; nodeId: string }, outcome: 'ok' | 'failed', code?: string): void {
    const ended = this.#ended.get(ref.path) ?? new Map<string, 'ok' | 'failed'>();
    this.#ended.set(ref.path, ended.set(ref.nodeId, outcome));
    this.#note(ref, { what: 'ends', outcome, ...(code !== undefined && { code }) });
  }

  #note({ path, nodeId: id }: { path: string; nodeId: string }, event: Noted<Event>): void {
    this.#played.events.push({ at: this.#at, path, id, ...event });
  }
}

/** An event without the fields that all events have. */
type Noted<Type> = Type extends unknown ? Omit<Type, 'at' | 'path' | 'id'> : never;
