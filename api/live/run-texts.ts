// Keeps what the models of one run are writing, for all who read it in this process.
import type { DeltaKey, RunDelta, ToldToolCall } from '../../db/runs/run-deltas-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';

/** One call of a model by a node. */
export interface StepTexts {
  attempt: number;
  step: number;
  /** What has come, in order. Empty if it is broken. */
  pieces: string[];
  toolCalls: ToldToolCall[];
  /** The model had begun to write before anybody read here. */
  isLate: boolean;
  /** All of it is here. */
  isWhole: boolean;
  /** A part of it is missing: nothing of it is told. */
  isBroken: boolean;
  begunAt: number;
  /** The number of the row that follows. */
  next: number;
}

export interface NodeTexts {
  path: string;
  nodeId: string;
  /** Of the latest attempt, in order. */
  steps: StepTexts[];
  /** When a reader has come to the end of the node; infinite before. */
  endedAt: number;
  /** How many readers have. */
  closedBy: number;
}

type NodeName = Pick<NodeTexts, 'path' | 'nodeId'>;

const BYTES_OF_UNIT = 2;
const PIECE_BYTES = 64;
const LEASED_AT_ONCE = 64 * 1024;

export class RunTexts {
  readonly nodes = new Map<string, NodeTexts>();
  /** Those who read are called when there is something new. */
  readonly readers = new Set<() => void>();
  readonly #lease: ByteLease;
  #bytes = 0;
  #leasedBytes = 0;
  #clock = 0;
  #isLoaded = false;

  /** `lease` must never wait: where it has no memory, what has come is given up. */
  constructor(lease: ByteLease) {
    this.#lease = lease;
  }

  /** A number that rises with everything that begins or ends here. */
  tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  get(node: NodeName): NodeTexts | undefined {
    return this.nodes.get(nameOf(node));
  }

  /** Returns false for a row before which others are missing: it changes nothing. */
  add(delta: RunDelta, isLate = false): boolean {
    const known = this.get(delta)?.steps.at(-1);
    const order = known === undefined ? 1 : delta.attempt - known.attempt || delta.step - known.step;
    if (order < 0 || (order === 0 && delta.number < known!.next)) return true;
    if (delta.number !== (order === 0 ? known!.next : 0)) return false;
    this.#append(order === 0 ? known! : this.#begin(delta, isLate || delta.body.isLate === true), delta);
    return true;
  }

  /** Takes rows as they were read from the table, in their order: what is missing there is lost. The first ones come late. */
  load(deltas: RunDelta[]): void {
    const isLate = !this.#isLoaded;
    this.#isLoaded = true;
    for (const delta of deltas) {
      if (this.add(delta, isLate)) continue;
      const known = this.get(delta)?.steps.at(-1);
      const isSame = known?.attempt === delta.attempt && known.step === delta.step;
      const step = isSame ? known : this.#begin(delta, isLate);
      this.#break(step);
      this.#append(step, delta);
    }
  }

  /** The last row of each node. */
  known(): Omit<DeltaKey, 'runId'>[] {
    return [...this.nodes.values()].map(({ path, nodeId, steps }) => {
      const { attempt, step, next } = steps.at(-1)!;
      return { path, nodeId, attempt, step, number: next - 1 };
    });
  }

  /** A reader has come to the end of the node. What all have come to is forgotten. */
  close(node: NodeTexts): void {
    node.endedAt = Math.min(node.endedAt, this.tick());
    node.closedBy += 1;
    if (node.closedBy < this.readers.size) return;
    this.nodes.delete(nameOf(node));
    for (const step of node.steps) this.#free(step);
  }

  tell(): void {
    for (const onNews of this.readers) onNews();
  }

  end(): void {
    this.#lease.end();
  }

  #begin({ path, nodeId, attempt, step }: DeltaKey, isLate: boolean): StepTexts {
    const node = this.get({ path, nodeId }) ?? { path, nodeId, steps: [], endedAt: Infinity, closedBy: 0 };
    this.nodes.set(nameOf(node), node);
    if (node.steps[0] !== undefined && node.steps[0].attempt < attempt) {
      for (const older of node.steps) this.#free(older);
      node.steps = [];
    }
    const begun = { attempt, step, pieces: [], toolCalls: [], isLate, isWhole: false, isBroken: false, next: 0 };
    const steps: StepTexts = { ...begun, begunAt: this.tick() };
    node.steps.push(steps);
    return steps;
  }

  #append(step: StepTexts, { number, body: { text, toolCalls = [], isLast } }: RunDelta): void {
    step.next = number + 1;
    step.isWhole = isLast === true;
    if (step.isBroken) return;
    if (text !== undefined) step.pieces.push(text);
    step.toolCalls.push(...toolCalls);
    this.#hold(weightOf(text, toolCalls));
  }

  #break(step: StepTexts): void {
    this.#free(step);
    step.isBroken = true;
  }

  #free(step: StepTexts): void {
    const bytes = step.pieces.reduce((sum, piece) => sum + weightOf(piece, []), weightOf(undefined, step.toolCalls));
    step.pieces = [];
    step.toolCalls = [];
    this.#hold(-bytes);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    const wanted = LEASED_AT_ONCE * Math.ceil(this.#bytes / LEASED_AT_ONCE);
    if (wanted === this.#leasedBytes) return;
    this.#leasedBytes = wanted;
    this.#lease.resize(wanted)?.catch(() => this.#giveUp());
  }

  #giveUp(): void {
    for (const { steps } of this.nodes.values()) for (const step of steps) this.#break(step);
  }
}

function weightOf(text: string | undefined, toolCalls: readonly ToldToolCall[]): number {
  const units = toolCalls.reduce(
    (sum, { id, name, arguments: given }) => sum + id.length + name.length + given.length,
    0,
  );
  const pieces = toolCalls.length + (text === undefined ? 0 : 1);
  return PIECE_BYTES * pieces + BYTES_OF_UNIT * (units + (text?.length ?? 0));
}

function nameOf({ path, nodeId }: NodeName): string {
  return `${path}/${nodeId}`;
}
