// The expected behaviour of a run of a random drawing, derived recursively from docs/use/nodes.md, without a schedule.
// If a failure stops other nodes, the order decides how many of them have started, so these nodes may run or not.
import { behaviourOf, outputOf, type Behaviour, type RandomDrawing, type Step } from './drawing.js';

const UNCATCHABLE = 'budget_exceeded';

export type LoopResult =
  | { outputs: (string | null)[]; count: number; errors: number[] }
  | { output: string | null; rounds: number };

/** A node in an iteration. */
export interface Expected {
  step: Step;
  path: string;
  /** True if the node certainly runs; otherwise it may run or not. */
  isSure: boolean;
  /** The codes with which it may fail; empty if it succeeds. This is its outcome unless it is stopped. */
  codes: ReadonlySet<string>;
  /** True if its scope starts with it. */
  isEntry: boolean;
  /** The nodes before it that run. `leads`: true if a link from that node to this one is taken. */
  before: { id: string; leads: boolean }[];
  /** The result of a loop that succeeds. */
  result?: LoopResult;
}

interface ScopeEnd {
  /** The nodes by `keyOf`. */
  nodes: Map<string, Expected>;
  /** The codes of the nodes because of which the scope fails; empty if it succeeds. */
  failures: Map<string, ReadonlySet<string>>;
  ended: Map<string, 'ok' | 'failed'>;
}

interface LoopEnd {
  nodes: Map<string, Expected>;
  codes: ReadonlySet<string>;
  result?: LoopResult;
}

const NONE: ReadonlySet<string> = new Set();

export function keyOf(path: string, id: string): string {
  return `${path} ${id}`;
}

export function pathOf(path: string, loopId: string, index: number): string {
  return `${path === '' ? '' : `${path}/`}${loopId}[${index}]`;
}

/** Returns true if a failure with one of these codes can be caught: this holds for all of them, or for none. */
export function isCatchable(codes: ReadonlySet<string>): boolean {
  return !codes.has(UNCATCHABLE);
}

/** The expected nodes of the drawing's run. The run fails unless `failures` is empty. */
export function expectedOf(drawing: RandomDrawing): Pick<ScopeEnd, 'nodes' | 'failures'> {
  return runScope(drawing.steps, [0], '', behaviourOf(drawing));
}

/** Links lead to later steps, so the steps can be decided in order. */
function runScope(steps: readonly Step[], entries: readonly number[], path: string, behaviour: Behaviour): ScopeEnd {
  const nodes = new Map<string, Expected>();
  const failures: ScopeEnd['failures'] = new Map();
  const ended: ScopeEnd['ended'] = new Map();
  const before: Expected['before'][] = steps.map(() => []);
  for (const [at, step] of steps.entries()) {
    if (!entries.includes(at) && !before[at]!.some(({ leads }) => leads)) continue;
    const { codes, result, nodes: inside } = runStep(step, path, behaviour);
    const common = { step, path, isSure: true, isEntry: entries.includes(at), before: before[at]! };
    nodes.set(keyOf(path, step.id), { ...common, codes, ...(result && { result }) });
    for (const [key, node] of inside) nodes.set(key, node);
    ended.set(step.id, codes.size === 0 ? 'ok' : 'failed');
    const isCaught = codes.size > 0 && step.onError !== 'fail' && isCatchable(codes);
    if (codes.size > 0 && !isCaught) failures.set(step.id, codes);
    const taken = codes.size === 0 ? behaviour.ways(step, path) : isCaught ? wayAfterFailure(step) : [];
    for (const { to, way } of step.links) before[to]!.push({ id: step.id, leads: taken.includes(way) });
  }
  return { nodes: failures.size === 0 ? nodes : asPossible(nodes), failures, ended };
}

/** Conditions and switches have no ordinary links, so after `continue` no link of theirs is taken. */
function wayAfterFailure({ kind, onError }: Step): string[] {
  if (onError === 'branch') return ['error'];
  return kind === 'condition' || kind === 'switch' ? [] : ['next'];
}

function runStep(step: Step, path: string, behaviour: Behaviour): LoopEnd {
  if (behaviour.fails(step, path)) return { nodes: new Map(), codes: new Set([behaviour.code(step)]) };
  if (step.kind === 'for_each') return runForEach(step, path, behaviour);
  if (step.kind === 'loop') return runLoop(step, path, behaviour);
  return { nodes: new Map(), codes: NONE };
}

interface IterationEnd {
  nodes: Map<string, Expected>;
  codes: ReadonlySet<string>;
  output: string | null;
}

function runIteration(step: Step, path: string, index: number, behaviour: Behaviour): IterationEnd {
  const { steps, entries } = step.body!;
  const iteration = pathOf(path, step.id, index);
  const { nodes, failures, ended } = runScope(steps, entries, iteration, behaviour);
  const codes = new Set([...failures.values()].flatMap((found) => [...found]));
  if (codes.size === 0 && behaviour.hasBadOutput(step, iteration)) codes.add('bad_output');
  return { nodes, codes, output: codes.size > 0 ? null : outputOf(iteration, ended) };
}

function runForEach(step: Step, path: string, behaviour: Behaviour): LoopEnd {
  const { concurrency, onItemError } = step.body!;
  const nodes: LoopEnd['nodes'] = new Map();
  const codes = new Set<string>();
  const outputs: (string | null)[] = [];
  const errors: number[] = [];
  const count = behaviour.items(step, path);
  for (let index = 0; index < count; index++) {
    const iteration = runIteration(step, path, index, behaviour);
    for (const [key, node] of iteration.nodes) nodes.set(key, node);
    if (iteration.codes.size === 0) {
      outputs.push(iteration.output);
    } else if (onItemError !== 'fail' && isCatchable(iteration.codes)) {
      errors.push(index);
      if (onItemError === 'null') outputs.push(null);
    } else {
      for (const code of iteration.codes) codes.add(code);
      // Iterations run one after the other: all before this one have run, and none follows.
      if (concurrency === 1) break;
    }
  }
  if (codes.size > 0) return { nodes: concurrency === 1 ? nodes : asPossible(nodes), codes };
  return { nodes, codes, result: { outputs, count, errors } };
}

function runLoop(step: Step, path: string, behaviour: Behaviour): LoopEnd {
  const { most, onLimit } = step.body!;
  const nodes: LoopEnd['nodes'] = new Map();
  for (let round = 0; ; round++) {
    const iteration = runIteration(step, path, round, behaviour);
    for (const [key, node] of iteration.nodes) nodes.set(key, node);
    if (iteration.codes.size > 0) return { nodes, codes: iteration.codes };
    const isOver = behaviour.isOver(step, pathOf(path, step.id, round));
    const rounds = round + 1;
    if (!isOver && rounds < most) continue;
    if (!isOver && onLimit === 'fail') return { nodes, codes: new Set(['too_many_rounds']) };
    return { nodes, codes: NONE, result: { output: iteration.output, rounds } };
  }
}

function asPossible(nodes: ReadonlyMap<string, Expected>): Map<string, Expected> {
  return new Map([...nodes].map(([key, node]) => [key, { ...node, isSure: false }]));
}
