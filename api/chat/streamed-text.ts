// Selects the text that may be streamed from the answering node, because text that a client has cannot be taken back.
import { ApiError } from '../http/errors.js';
import type { TextDelta } from '../streams/text-reader.js';

export type AnswerDelta = Omit<TextDelta, 'index' | 'tool_call'> & { tool_call?: object };

/** Separates the texts that an agent writes before and after a tool call. */
const BETWEEN_STEPS = '\n\n';

export interface StreamedText {
  /** The node whose text was streamed; undefined before the first text. */
  readonly nodeId: string | undefined;
  /**
   * Returns the text to stream next, possibly none. Throws `attempt_failed` if streamed text does not belong to
   * the answer.
   */
  add(delta: AnswerDelta): string;
}

/** `answering`: the ids of the nodes of which one answers (graph/answer-node.ts). */
export function createStreamedText(answering: ReadonlySet<string>): StreamedText {
  let nodeId: string | undefined;
  let place = { attempt: 0, step: 0 };
  /** The text of the present step that was streamed. */
  let streamed = '';
  let callsTools = false;

  function begin({ attempt, step }: AnswerDelta): void {
    const isNextStep = step > place.step && (callsTools || streamed === '');
    if (streamed !== '' && !isNextStep) throw attemptFailed();
    place = { attempt, step };
    streamed = '';
    callsTools = false;
  }

  return {
    get nodeId() {
      return nodeId;
    },
    add(delta) {
      const { id, path, attempt, step, text = '', tool_call: toolCall, reset = false } = delta;
      if (path !== '' || !answering.has(id) || (nodeId ?? id) !== id) return '';
      if (step < place.step || (step === place.step && attempt < place.attempt)) return '';
      if (step !== place.step || attempt !== place.attempt) begin(delta);
      callsTools ||= toolCall !== undefined;
      // A reset delta begins the text of the step anew.
      if (reset && !text.startsWith(streamed)) throw attemptFailed();
      const words = reset ? text.slice(streamed.length) : text;
      if (words === '') return '';
      const isFirst = streamed === '' && nodeId !== undefined;
      nodeId = id;
      streamed += words;
      return isFirst ? `${BETWEEN_STEPS}${words}` : words;
    },
  };
}

/** The client has received text of an attempt that failed. The run continues. */
export function attemptFailed(): ApiError {
  const message =
    'An attempt of the model failed after part of its text was sent. That part is no answer. The run goes on.';
  return new ApiError(500, 'attempt_failed', message);
}
