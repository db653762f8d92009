// Random drawings with nested loops, and the behaviour of each of their nodes in each iteration. Nothing here depends
// on the code that is tested.

/** The exit of its node that a link starts from. */
export type Way = 'next' | 'error' | 'yes' | 'no' | 'a' | 'b' | 'otherwise';

export interface Step {
  id: string;
  kind: 'trigger' | 'http' | 'set' | 'condition' | 'switch' | 'for_each' | 'loop';
  onError: 'fail' | 'continue' | 'branch';
  joinsAny: boolean;
  fails: 'never' | 'always' | 'sometimes';
  /** `lost`: Temporal times its activity out, so the activity cannot record the failure itself. */
  failsBy: 'error' | 'lost';
  /** Links lead to later steps of the same scope. */
  links: { to: number; way: Way }[];
  /** The body of a loop. */
  body?: Body;
}

interface Body {
  steps: Step[];
  /** The steps with which the body starts. */
  entries: number[];
  concurrency: number;
  /** The maximum number of items or rounds. */
  most: number;
  onItemError: 'fail' | 'null' | 'skip';
  onLimit: 'fail' | 'continue';
  /** True if the output of some iterations cannot be computed. */
  hasBadOutputs: boolean;
}

export interface RandomDrawing {
  steps: Step[];
  /** The code of every failure of a step. */
  code: 'boom' | 'budget_exceeded';
  salt: number;
}

/** The numbers that make all decisions. After its end the tape returns zeros, which choose the simplest option. */
export class Tape {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A number from 0 up to, not including, `end`. */
  below(end: number): number {
    return (this.#numbers[this.#at++] ?? 0) % end;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  /** Returns true once in `times`. */
  rarely(times: number): boolean {
    return this.below(times) === times - 1;
  }
}

const MAX_DEPTH = 3;
/** The largest number of steps of a scope (SIZES), and of items or rounds of a loop (MOST), by depth. */
const SIZES = [7, 4, 3, 3];
const MOST = [4, 3, 2];

export function readDrawing(tape: Tape): RandomDrawing {
  const code = tape.rarely(12) ? 'budget_exceeded' : 'boom';
  const salt = tape.below(1000);
  const { steps } = readScope(tape, { depth: 0, code, name: '' });
  return { steps, code, salt };
}

interface Around {
  depth: number;
  code: RandomDrawing['code'];
  name: string;
}

function readScope(tape: Tape, around: Around): { steps: Step[]; entries: number[] } {
  const steps: Step[] = [];
  const entries = [0];
  for (const count = 1 + tape.below(SIZES[around.depth]!); steps.length < count;) {
    const at = steps.length;
    steps.push(readStep(tape, at, around));
    if (at === 0) continue;
    if (around.depth > 0 && tape.rarely(6)) entries.push(at);
    else addLink(tape, steps, tape.below(at), at);
  }
  for (let more = tape.below(steps.length); more > 0; more--) {
    const [one, other] = [tape.below(steps.length), tape.below(steps.length)];
    if (one !== other) addLink(tape, steps, Math.min(one, other), Math.max(one, other));
  }
  return { steps, entries };
}

function addLink(tape: Tape, steps: Step[], from: number, to: number): void {
  steps[from]!.links.push({ to, way: tape.pick(waysOut(steps[from]!)) });
}

function readStep(tape: Tape, at: number, { depth, code, name }: Around): Step {
  const isStart = depth === 0 && at === 0;
  const kind = isStart ? 'trigger' : tape.pick(depth < MAX_DEPTH ? KINDS : KINDS.slice(0, -3));
  const id = `${name}${String.fromCharCode(97 + depth)}${at}`;
  const onError = isStart ? 'fail' : tape.pick(['fail', 'fail', 'continue', 'branch'] as const);
  // Uncaught failures end most drawings early, so they are less frequent.
  const fails = isStart || (onError === 'fail' && !tape.rarely(6)) ? 'never' : tape.pick(FAILS);
  const failsBy = kind === 'http' && code === 'boom' ? tape.pick(['error', 'error', 'lost'] as const) : 'error';
  const step: Step = { id, kind, onError, joinsAny: tape.rarely(4), fails, failsBy, links: [] };
  if (kind !== 'for_each' && kind !== 'loop') return step;
  const inside = { depth: depth + 1, code, name: `${id}-` };
  const body: Body = {
    ...readScope(tape, inside),
    concurrency: kind === 'loop' ? 1 : 1 + tape.below(3),
    most: 1 + tape.below(MOST[depth]!),
    onItemError: tape.pick(['null', 'skip', 'fail'] as const),
    // If one of two failures can be caught and the other cannot, the result may depend on which one comes first.
    onLimit: code === 'boom' ? tape.pick(['continue', 'fail'] as const) : 'continue',
    hasBadOutputs: code === 'boom' && tape.rarely(4),
  };
  return { ...step, body };
}

const KINDS = ['http', 'set', 'condition', 'switch', 'for_each', 'loop', 'for_each'] as const;
const FAILS = ['never', 'sometimes', 'always'] as const;

function waysOut({ kind, onError }: Step): Way[] {
  const ways: Way[] = kind === 'condition' ? ['yes', 'no'] : kind === 'switch' ? ['a', 'b', 'otherwise'] : ['next'];
  return onError === 'branch' ? [...ways, 'error'] : ways;
}

/** Returns the same number for the same node in the same iteration (FNV-1a). */
function chance({ salt }: RandomDrawing, what: string, path: string, id: string, end: number): number {
  let hash = 2_166_136_261 ^ salt;
  for (const character of `${what} ${path} ${id}`) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619);
  return ((hash ^ (hash >>> 15)) >>> 0) % end;
}

/** The behaviour of the drawing's nodes in the iteration `path`. */
export function behaviourOf(drawing: RandomDrawing) {
  const once = (what: string, path: string, { id }: Step, times: number): boolean =>
    chance(drawing, what, path, id, times) === 0;
  return {
    fails: (step: Step, path: string): boolean =>
      step.fails === 'always' || (step.fails === 'sometimes' && once('fails', path, step, 3)),
    code: ({ failsBy }: Step): string => (failsBy === 'lost' ? 'timeout' : drawing.code),
    /** The ways by which the node is left when it succeeds. */
    ways(step: Step, path: string): Way[] {
      if (step.kind === 'condition') return once('holds', path, step, 2) ? ['yes'] : ['no'];
      if (step.kind !== 'switch') return ['next'];
      return ([['a'], ['b'], ['a', 'b'], ['otherwise']] as Way[][])[chance(drawing, 'cases', path, step.id, 4)]!;
    },
    items: (step: Step, path: string): number => chance(drawing, 'items', path, step.id, step.body!.most + 1),
    hasBadOutput: (step: Step, iteration: string): boolean =>
      step.body!.hasBadOutputs && once('output', iteration, step, 4),
    /** Returns true if the condition of a loop holds after the round. */
    isOver: (step: Step, iteration: string): boolean => once('until', iteration, step, 3),
  };
}

export type Behaviour = ReturnType<typeof behaviourOf>;

/** The output of an iteration: the nodes that have ended, and their outcomes. */
export function outputOf(iteration: string, ended: ReadonlyMap<string, 'ok' | 'failed'>): string {
  const nodes = [...ended].map(([id, how]) => `${id} ${how}`).toSorted();
  return `${iteration}: ${nodes.join(', ')}`;
}

const TYPES = {
  trigger: 'trigger-node',
  http: 'http-node',
  set: 'set-node',
  condition: 'if-else-node',
  switch: 'switch-node',
  for_each: 'for-each-node',
  loop: 'loop-node',
} as const;

const HANDLES: Record<Way, string | undefined> = {
  next: undefined,
  error: 'error',
  yes: 'condition-true',
  no: 'condition-false',
  a: 'a',
  b: 'b',
  otherwise: 'default',
};

/** Returns the document that an editor would save. */
export function toDocument({ steps }: RandomDrawing): { start_node: string; nodes: object[]; edges: object[] } {
  const nodes: object[] = [];
  const edges: object[] = [];
  const add = (scope: readonly Step[]): void => {
    for (const { id, kind, onError, joinsAny, links, body } of scope) {
      const join = joinsAny ? { join: 'any' } : {};
      const cases = kind === 'switch' ? { cases: [{ id: 'a' }, { id: 'b' }] } : {};
      nodes.push({ id, type: TYPES[kind], data: { id, label: id, on_error: onError, ...join, ...cases } });
      for (const { to, way } of links) edges.push({ source: id, target: scope[to]!.id, sourceHandle: HANDLES[way] });
      for (const entry of body?.entries ?? []) {
        edges.push({ source: id, target: body!.steps[entry]!.id, sourceHandle: 'body' });
      }
      if (body !== undefined) add(body.steps);
    }
  };
  add(steps);
  return { start_node: steps[0]!.id, nodes, edges };
}
