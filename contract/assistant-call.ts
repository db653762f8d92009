/**
 * The key in `_meta` of `tools/call` by which the worker names a tool call of the assistant in the editor. A repeated
 * call has the same name in its run.
 */
export const CALL_NAME = 'workflow-automation-service/call';
