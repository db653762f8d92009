/** A start failure that the user can fix. The message is one sentence, shown without a stack trace. */
export class StartError extends Error {
  override name = 'StartError';
}
