// Buffers the text of one model call until it is written for its readers.
import type { DeltaBody, RunDelta, ReportedToolCall } from '../../db/runs/run-deltas-repository.js';
import type { Masker } from '../../graph/mask.js';
import { toStorable } from '../../graph/storable-text.js';
import type { NodeKey } from '../../graph/plan.js';
import type { ByteLease } from '../../memory/byte-budget.js';

interface Step extends NodeKey {
  attempt: number;
  step: number;
  hasReaders: boolean;
  masker: Masker;
}

export interface StepText extends Pick<Step, 'runId'> {
  /** True if somebody reads the run, as far as is known. */
  hasReaders: boolean;
  readonly hasText: boolean;
  /** True if nothing more will be written for this call. */
  readonly isSettled: boolean;
  add(text: string): void;
  end(toolCalls: ReportedToolCall[]): void;
  /** Returns the delta to write next. Returns the same delta until `written` is called. */
  next(): RunDelta | undefined;
  written(): void;
  close(): void;
  readonly closed: Promise<void>;
}

/** Memory is leased in multiples of this size, in bytes. */
const LEASED_AT_ONCE = 64 * 1024;
const BYTES_OF_UNIT = 2;
/**
 * Text beyond this limit appears only when the result of the step is stored, because every
 * reader buffers the text until then.
 */
const MOST_UNITS = 512 * 1024;

/**
 * `lease` must reject instead of waiting. Without memory the text is dropped, and readers see no more of
 * it before the result is stored.
 */
export function createStepText(
  { runId, path, nodeId, attempt, step, hasReaders, masker }: Step,
  lease: ByteLease,
): StepText {
  const masks = masker.stream();
  let pieces: string[] = [];
  let heldUnits = 0;
  let totalUnits = 0;
  let leasedBytes = 0;
  let toolCalls: ReportedToolCall[] = [];
  let number = 0;
  let half = '';
  let isEnded = false;
  let isGivenUp = false;
  let isLast = false;
  let writing: RunDelta | undefined;
  /** The part of `heldUnits` that the delta in flight contains. */
  let unitsWriting = 0;
  let close: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));

  function giveUp(): void {
    isGivenUp = true;
    pieces = [];
  }

  function hold(units: number): void {
    heldUnits += units;
    const bytes = LEASED_AT_ONCE * Math.ceil((BYTES_OF_UNIT * heldUnits) / LEASED_AT_ONCE);
    if (bytes === leasedBytes) return;
    leasedBytes = bytes;
    lease.resize(bytes)?.catch(giveUp);
  }

  /**
   * Returns the text that is final so far. Holds back half a surrogate pair, and replaces characters that cannot
   * be stored, as the result does.
   */
  function finalText(): string {
    const raw = pieces.join('');
    pieces = [];
    const text = half + masks.push(raw) + (isEnded ? masks.end() : '');
    half = isEnded ? '' : (/[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '');
    return toStorable(text.slice(0, text.length - half.length));
  }

  const found: StepText = {
    runId,
    hasReaders,
    closed,
    get hasText() {
      return pieces.length > 0;
    },
    get isSettled() {
      return isLast || (isEnded && (isGivenUp || !found.hasReaders));
    },
    add(text) {
      if (isGivenUp) return;
      totalUnits += text.length;
      if (totalUnits > MOST_UNITS) return giveUp();
      pieces.push(text);
      hold(text.length);
    },
    end(calls) {
      isEnded = true;
      toolCalls = calls.map((call) => ({
        id: toStorable(masker.text(call.id)),
        name: toStorable(masker.text(call.name)),
        arguments: toStorable(masker.text(call.arguments)),
      }));
    },
    next() {
      if (writing !== undefined || isGivenUp) return writing;
      unitsWriting = heldUnits;
      const isLate = number === 0 && !hasReaders && pieces.length > 0;
      const text = finalText();
      const body: DeltaBody = {
        ...(text !== '' && { text }),
        ...(toolCalls.length > 0 && { toolCalls }),
        ...(isLate && { isLate }),
        ...(isEnded && { isLast: true }),
      };
      if (text !== '' || isEnded) writing = { runId, path, nodeId, attempt, step, number, body };
      return writing;
    },
    written() {
      isLast = writing?.body.isLast === true;
      writing = undefined;
      number += 1;
      hold(-unitsWriting);
    },
    close() {
      lease.end();
      close();
    },
  };
  return found;
}
