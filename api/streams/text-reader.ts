// Tracks which model text one reader has received, and returns the reader's next deltas.
import type { StoredAnswer, ReportedToolCall } from '../../db/runs/run-deltas-repository.js';
import type { RunEvent, EventNode } from '../../db/runs/run-events-repository.js';
import { isObject } from '../../graph/json.js';
import type { NodeKey } from '../../graph/plan.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { NodeTexts, RunTexts, StepTexts } from '../live/run-texts.js';
import { TEXT_COPIES } from '../../memory/json-copies.js';

export interface TextDelta {
  id: string;
  path: string;
  /** Counts from 1. */
  attempt: number;
  /** The number of the node's model call, counted from 0. */
  step: number;
  /** Counts from 0 within the attempt and the step. */
  index: number;
  text?: string;
  tool_call?: ReportedToolCall;
  /** The client must discard all earlier text of the node. */
  reset?: true;
}

interface Place {
  step: StepTexts;
  pieces: number;
  toolCalls: number;
  index: number;
}

interface Reading {
  texts: RunTexts;
  /** Notifies the reader. `texts` identifies the reader by this function. */
  notify: () => void;
  /** Returns the answer of an ended node; undefined if there is none. */
  readAnswer: (node: Omit<NodeKey, 'runId'>) => Promise<StoredAnswer | undefined>;
  /** The version of the run when the reader came; answers of nodes that had ended by then are not sent. */
  since: number;
  /** Reserves memory for the answers that are read from the database. */
  lease: ByteLease;
}

export class TextReader {
  readonly #reading: Reading;
  readonly #joinedAt: number;
  readonly #places = new Map<NodeTexts, Place>();

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#joinedAt = reading.texts.cameAt(reading.notify);
  }

  /** Returns the next part of the unsent text: one delta for the text of each step, and one for each tool call. */
  drain(): TextDelta[] {
    return [...this.#reading.texts.nodes.values()].flatMap((node) => this.#takeOf(node));
  }

  /** Returns the deltas that a reader gets before the event of a node's end. `release` frees their memory. */
  async close(event: RunEvent): Promise<TextDelta[]> {
    const node = endedNode(event);
    if (node === undefined) return [];
    const known = this.#reading.texts.get({ path: event.path, nodeId: event.subject });
    const deltas: TextDelta[] = [];
    if (known !== undefined) {
      for (let more = this.#takeOf(known); more.length > 0; more = this.#takeOf(known)) deltas.push(...more);
    }
    const isMine = event.status === 'succeed' && event.version > this.#reading.since;
    const answer = isMine && !node.isReused && node.source === null ? await this.#answerOf(event, known) : undefined;
    if (answer !== undefined) deltas.push(...this.#rest(event, known, answer));
    if (known !== undefined) {
      this.#places.delete(known);
      this.#reading.texts.close(known, this.#reading.notify);
    }
    return deltas;
  }

  /** Frees the memory of the deltas that were returned. */
  release(): void {
    void this.#reading.lease.resize(0);
  }

  end(): void {
    this.#reading.lease.end();
  }

  #takeOf(node: NodeTexts): TextDelta[] {
    if (node.endedAt < this.#joinedAt) return [];
    const place = this.#places.get(node);
    const last = node.steps.at(-1);
    // A reader that comes late gets only the latest step, which may be complete.
    const steps = place === undefined && last !== undefined && last.startedAt < this.#joinedAt ? [last] : node.steps;
    const deltas: TextDelta[] = [];
    for (const step of steps) {
      const { taken, isAll } = this.#takeStep(node, step);
      deltas.push(...taken);
      // The rest of this step must come before the next step, from which no reader goes back.
      if (!isAll) break;
    }
    return deltas;
  }

  /** `isAll` is false if the step has more than is taken at once. */
  #takeStep(node: NodeTexts, step: StepTexts): { taken: TextDelta[]; isAll: boolean } {
    const known = this.#places.get(node);
    if (step.isBroken || (known !== undefined && step.startedAt < known.step.startedAt))
      return { taken: [], isAll: true };
    const isNew = known?.step !== step;
    const place = isNew ? { step, pieces: 0, toolCalls: 0, index: 0 } : known;
    const pieces = someOf(step.pieces, place.pieces);
    const text = pieces.join('');
    const isAll = place.pieces + pieces.length === step.pieces.length;
    const toolCalls = isAll ? step.toolCalls.slice(place.toolCalls) : [];
    if (text === '' && toolCalls.length === 0) return { taken: [], isAll };
    this.#places.set(node, place);
    place.pieces += pieces.length;
    place.toolCalls += toolCalls.length;
    const isAgain = known === undefined ? step.attempt > 1 : known.step.attempt < step.attempt;
    let isReset = isNew && (isAgain || step.isLate || step.startedAt < this.#joinedAt);
    const parts = [...(text === '' ? [] : [{ text }]), ...toolCalls.map((call) => ({ tool_call: call }))];
    const taken = parts.map((part) => {
      const delta = toDelta(node.nodeId, node.path, place, part, isReset);
      isReset = false;
      return delta;
    });
    return { taken, isAll };
  }

  /**
   * Returns the node's answer; undefined for a node without one. An answer that only the database has is not read if
   * the reader has already received all of it; the result is then undefined, too.
   */
  async #answerOf(event: RunEvent, known: NodeTexts | undefined): Promise<StoredAnswer | undefined> {
    const { readAnswer, lease } = this.#reading;
    const { result } = (event.content as EventNode).node;
    const last = known?.steps.at(-1);
    const inline = result === null ? undefined : answerIn(result);
    if (result !== null && inline === undefined) return undefined;
    if (inline !== undefined && last !== undefined) return { attempt: last.attempt, step: last.step, content: inline };
    if (last?.isWhole === true && last.pieces.length > 0) return undefined;
    await lease.resize(lease.bytes + TEXT_COPIES * (event.apartBytes ?? event.bytes));
    return readAnswer({ path: event.path, nodeId: event.subject });
  }

  #rest({ path, subject }: RunEvent, node: NodeTexts | undefined, answer: StoredAnswer): TextDelta[] {
    const place = node === undefined ? undefined : this.#places.get(node);
    const isSame = place?.step.attempt === answer.attempt && place.step.step === answer.step;
    const told = isSame && !place.step.isBroken ? place.step.pieces.slice(0, place.pieces).join('') : '';
    const { content } = answer;
    const isWrong = (isSame && place.step.isBroken) || !content.startsWith(told);
    const text = isWrong ? content : content.slice(told.length);
    // An empty answer is sent only if the reader would otherwise take text that it has received for the answer.
    if (text === '' && !isWrong && (isSame || place === undefined)) return [];
    const isReset = isWrong || (!isSame && answer.attempt > (place?.step.attempt ?? 1));
    const at = isSame ? place : { step: answer, index: 0 };
    return [toDelta(subject, path, at, { text }, isReset)];
  }
}

/** Bounds the text per call, because the reader may be slow. */
const MOST_AT_ONCE = 64 * 1024;

/** Returns the next pieces after the first `from`, up to `MOST_AT_ONCE`, but at least one that has text. */
function someOf(pieces: readonly string[], from: number): string[] {
  let until = from;
  let units = 0;
  while (until < pieces.length && (units === 0 || units + pieces[until]!.length <= MOST_AT_ONCE)) {
    units += pieces[until]!.length;
    until += 1;
  }
  return pieces.slice(from, until);
}

function toDelta(
  id: string,
  path: string,
  place: { step: { attempt: number; step: number }; index: number },
  part: Pick<TextDelta, 'text' | 'tool_call'>,
  isReset: boolean,
): TextDelta {
  const { attempt, step } = place.step;
  const index = place.index;
  place.index += 1;
  return { id, path, attempt, step, index, ...part, ...(isReset && { reset: true }) };
}

/** The node that ended with this event; undefined for other events. */
function endedNode({ kind, path, content }: RunEvent): EventNode['node'] | undefined {
  if (kind !== 'node' || content === undefined || !('node' in content)) return undefined;
  return content.node.status === 'in progress' || content.path !== path ? undefined : content.node;
}

/** Returns the answer text of a node that calls models; undefined for other results. */
function answerIn(result: string): string | undefined {
  const parsed: unknown = JSON.parse(result);
  return isObject(parsed) && typeof parsed['content'] === 'string' && 'usage' in parsed ? parsed['content'] : undefined;
}
