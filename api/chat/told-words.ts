// The words of the node that answers, for a client that cannot take words back.
import { ApiError } from '../http/errors.js';
import type { TextDelta } from '../streams/text-reader.js';

/** A delta as the stream of events tells it. */
export type AnswerDelta = Omit<TextDelta, 'index' | 'tool_call'> & { tool_call?: object };

/** Stands between what an agent writes before a tool call and behind it. */
const BETWEEN_STEPS = '\n\n';

export interface ToldWords {
  /** The node whose words were told; undefined while none were. */
  readonly nodeId: string | undefined;
  /**
   * Returns the words to be told next, which may be none. Throws the error `attempt_failed` where words that were told
   * turn out to be none of the answer.
   */
  take(delta: AnswerDelta): string;
}

/** `answering`: the ids of the nodes of which one answers (graph/answer-node.ts). */
export function createToldWords(answering: ReadonlySet<string>): ToldWords {
  let nodeId: string | undefined;
  let place = { attempt: 0, step: 0 };
  /** What was told of the present step. */
  let told = '';
  let callsTools = false;

  function begin({ attempt, step }: AnswerDelta): void {
    const isNextStep = step > place.step && (callsTools || told === '');
    if (told !== '' && !isNextStep) throw attemptFailed();
    place = { attempt, step };
    told = '';
    callsTools = false;
  }

  return {
    get nodeId() {
      return nodeId;
    },
    take(delta) {
      const { id, path, attempt, step, text = '', tool_call: toolCall, reset = false } = delta;
      if (path !== '' || !answering.has(id) || (nodeId ?? id) !== id) return '';
      if (step < place.step || (step === place.step && attempt < place.attempt)) return '';
      if (step !== place.step || attempt !== place.attempt) begin(delta);
      callsTools ||= toolCall !== undefined;
      // Whoever reads late or again gets the text of the step as a whole.
      if (reset && !text.startsWith(told)) throw attemptFailed();
      const words = reset ? text.slice(told.length) : text;
      if (words === '') return '';
      const isFirst = told === '' && nodeId !== undefined;
      nodeId = id;
      told += words;
      return isFirst ? `${BETWEEN_STEPS}${words}` : words;
    },
  };
}

/** The client has words of an attempt that has failed. The run goes on. */
export function attemptFailed(): ApiError {
  const message = 'An attempt of the model failed behind words that were sent: they are no answer. The run goes on.';
  return new ApiError(500, 'attempt_failed', message);
}
