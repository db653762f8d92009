// A run survives failures that `on_error` catches (docs/use/nodes.md, "When a node starts, and when it fails"). The run
// workflow imports this file, so it imports nothing.

/**
 * A budget that is exceeded stops the run, whatever its nodes say, and so does the end of the run by somebody else, or a case
 * that would wait for somebody.
 */
const NEVER_CAUGHT: readonly string[] = ['budget_exceeded', 'cancelled', 'mock_missing', 'run_closed'];

/** Returns whether a run may survive a failure with this code, if the node's `on_error` says so. */
export function mayBeCaught(code: string): boolean {
  return !NEVER_CAUGHT.includes(code);
}
