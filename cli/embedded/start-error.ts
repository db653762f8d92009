/** A reason not to start that the person at the terminal can act on: the message is one sentence, shown without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
