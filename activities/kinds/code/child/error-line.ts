/** The messages of QuickJS when code accesses a property of null or undefined, or a name without a value. */
const MISPLACED = [
  /^cannot (?:read|set) property '(.*)' of (?:null|undefined)$/,
  /^'?([^\s']+)'? is not (?:defined|initialized)$/,
];

/**
 * Returns the line at which the code has failed, from the innermost frame of the stack; null if unknown. QuickJS may
 * report the errors of `MISPLACED` at an earlier call or operator. The line of such an error is the only line that
 * contains the name, from the reported line on; null unless there is exactly one.
 */
export function findErrorLine(stack: string, message: string, code: string): number | null {
  const reported = /\bcode\.js:(\d{1,9})/.exec(stack)?.[1];
  if (reported === undefined) return null;
  const lines = code.split('\n');
  // The wrapper of the code ends on a line of its own.
  const line = Math.min(Number(reported), lines.length);
  const name = MISPLACED.map((pattern) => pattern.exec(message)?.[1]).find((found) => found !== undefined);
  if (name === undefined) return line;
  const named = lines.flatMap((text, at) => (at + 1 >= line && hasName(text, name) ? [at + 1] : []));
  return named.length === 1 ? named[0]! : null;
}

function hasName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + name.length)];
    if (!isPartOfName(before) && !isPartOfName(after)) return true;
  }
  return false;
}

function isPartOfName(character: string): boolean {
  return /[\p{L}\p{N}_$]/u.test(character);
}
