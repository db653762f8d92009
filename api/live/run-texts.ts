// Holds the deltas that the models of one run are writing, for all readers in this process.
import type { DeltaKey, RunDelta, ReportedToolCall } from '../../db/runs/run-deltas-repository.js';
import type { ByteLease } from '../../memory/byte-budget.js';

/** The texts of a model call by a node. */
export interface StepTexts {
  attempt: number;
  step: number;
  /** The text received so far, in order. Empty if the step is broken. */
  pieces: string[];
  toolCalls: ReportedToolCall[];
  /** True if the model had started to write before the first reader of this process came. */
  isLate: boolean;
  isWhole: boolean;
  /**
   * True if a delta is missing, or memory for the texts was refused. The readers then get no more of the step until its
   * node has ended.
   */
  isBroken: boolean;
  /** By the logical clock (`tick`). */
  startedAt: number;
  /** The number of the next delta. */
  next: number;
}

export interface NodeTexts {
  path: string;
  nodeId: string;
  steps: StepTexts[];
  /** The tick at which the first reader reached the end of the node; infinite before. */
  endedAt: number;
  /** The readers that have reached the end of the node. */
  closedBy: Set<TextsReader>;
}

/** The function that notifies a reader identifies it. */
type TextsReader = () => void;

type NodeName = Pick<NodeTexts, 'path' | 'nodeId'>;

const BYTES_OF_UNIT = 2;
const PIECE_BYTES = 64;
const LEASED_AT_ONCE = 64 * 1024;

export class RunTexts {
  readonly nodes = new Map<string, NodeTexts>();
  /** When each reader came, by the logical clock. */
  readonly #readers = new Map<TextsReader, number>();
  readonly #lease: ByteLease;
  #bytes = 0;
  #leasedBytes = 0;
  #clock = 0;
  #isLoaded = false;

  /** `lease` must refuse at once instead of waiting for memory; all texts are then dropped. */
  constructor(lease: ByteLease) {
    this.#lease = lease;
  }

  /** Advances the logical clock of the run, and returns its time. */
  tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  enter(reader: TextsReader): void {
    this.#readers.set(reader, this.tick());
  }

  cameAt(reader: TextsReader): number {
    return this.#readers.get(reader) ?? Infinity;
  }

  /** Returns false if the reader had already left. */
  leave(reader: TextsReader): boolean {
    const hasLeft = this.#readers.delete(reader);
    if (hasLeft) for (const node of this.nodes.values()) this.#freeIfRead(node);
    return hasLeft;
  }

  get(node: NodeName): NodeTexts | undefined {
    return this.nodes.get(nameOf(node));
  }

  /**
   * Returns false, without any change, if deltas before this one are missing. Ignores a delta that was added before, or
   * that is of a step before the node's latest.
   */
  add(delta: RunDelta, isLate = false): boolean {
    const known = this.get(delta)?.steps.at(-1);
    const order = known === undefined ? 1 : delta.attempt - known.attempt || delta.step - known.step;
    if (order < 0 || (order === 0 && delta.number < known!.next)) return true;
    if (delta.number !== (order === 0 ? known!.next : 0)) return false;
    this.#append(order === 0 ? known! : this.#begin(delta, isLate || delta.body.isLate === true), delta);
    return true;
  }

  /**
   * Takes deltas in the order in which they were read from the table; a delta that is missing there is lost. Steps of
   * the first load are late (`isLate`), because the model wrote them before this process had a reader.
   */
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

  /** The keys of the last delta of each node. */
  known(): Omit<DeltaKey, 'runId'>[] {
    return [...this.nodes.values()].map(({ path, nodeId, steps }) => {
      const { attempt, step, next } = steps.at(-1)!;
      return { path, nodeId, attempt, step, number: next - 1 };
    });
  }

  /** Records that the reader has reached the end of the node. */
  close(node: NodeTexts, reader: TextsReader): void {
    node.endedAt = Math.min(node.endedAt, this.tick());
    node.closedBy.add(reader);
    this.#freeIfRead(node);
  }

  notify(): void {
    for (const onNews of this.#readers.keys()) onNews();
  }

  end(): void {
    this.#lease.end();
  }

  /** Frees a node once each reader has reached the node's end, or came after another reader had reached it. */
  #freeIfRead(node: NodeTexts): void {
    for (const [reader, cameAt] of this.#readers) {
      if (cameAt <= node.endedAt && !node.closedBy.has(reader)) return;
    }
    this.nodes.delete(nameOf(node));
    for (const step of node.steps) this.#free(step);
  }

  #begin({ path, nodeId, attempt, step }: DeltaKey, isLate: boolean): StepTexts {
    const node = this.get({ path, nodeId }) ?? { path, nodeId, steps: [], endedAt: Infinity, closedBy: new Set() };
    this.nodes.set(nameOf(node), node);
    if (node.steps[0] !== undefined && node.steps[0].attempt < attempt) {
      for (const older of node.steps) this.#free(older);
      node.steps = [];
    }
    const fresh = { attempt, step, pieces: [], toolCalls: [], isLate, isWhole: false, isBroken: false, next: 0 };
    const steps: StepTexts = { ...fresh, startedAt: this.tick() };
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

function weightOf(text: string | undefined, toolCalls: readonly ReportedToolCall[]): number {
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
