/** QuickJS says this where a property of null or undefined is read or set, and of a name that has no value. */
const MISPLACED = [
  /^cannot (?:read|set) property '(.*)' of (?:null|undefined)$/,
  /^'?([^\s']+)'? is not (?:defined|initialized)$/,
];

/**
 * The line of the code at which it has failed: the innermost one of the stack; null where that is not known. Some errors
 * QuickJS places at the call or operator before them. Their line is the only one from there on that has the name.
 */
export function findErrorLine(stack: string, message: string, code: string): number | null {
  const told = /\bcode\.js:(\d{1,9})/.exec(stack)?.[1];
  if (told === undefined) return null;
  const lines = code.split('\n');
  // The wrapper of the code ends on a line of its own.
  const line = Math.min(Number(told), lines.length);
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
