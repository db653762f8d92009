// What the sentence of an error names, read from the sentence itself.

interface NodeError {
  code: string;
  message: string;
}

/** The line of the node's code, counted from 1; undefined where the error names none. */
export function lineOfError(error: NodeError | undefined): number | undefined {
  const line = error?.code === 'code_error' ? /\(line (\d{1,6})\)$/.exec(error.message)?.[1] : undefined;
  return line === undefined ? undefined : Number(line);
}

const CHILD = /^The run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) of the sub-workflow /;

/** The id of the run of a sub-workflow that did not succeed; undefined where it did not begin. */
export function failedChild(error: NodeError | undefined): string | undefined {
  return error?.code === 'child_failed' ? CHILD.exec(error.message)?.[1] : undefined;
}
