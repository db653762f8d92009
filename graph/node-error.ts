/** A failure of a node that its user sees: `code` is a stable identifier, and the message is one sentence. */
export class NodeError extends Error {
  override name = 'NodeError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
