/** A reason not to start that the user can fix: the message is one sentence, shown without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
