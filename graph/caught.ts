// The failures that a run may survive (docs/use/nodes.md, "When a node starts, and when it fails"). The run workflow
// imports this file, so it imports nothing.

/**
 * Codes that end the run even if the node catches errors: an exceeded budget, an end of the run from outside, and a
 * test case that would have to wait for a person.
 */
const NEVER_CAUGHT: readonly string[] = ['budget_exceeded', 'cancelled', 'mock_missing', 'run_closed'];

/** True if a run may survive a failure with this code, provided that the node's `on_error` catches it. */
export function mayBeCaught(code: string): boolean {
  return !NEVER_CAUGHT.includes(code);
}
