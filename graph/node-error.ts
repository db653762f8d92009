/** What a node fails with for the user's eyes: `code` is a stable machine word, the message one sentence. */
export class NodeError extends Error {
  override name = 'NodeError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
