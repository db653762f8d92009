/** What QuickJS says where a property of null or undefined is read or set. */
const OF_NOTHING = /^cannot (?:read|set) property '(.*)' of (?:null|undefined)$/;

/**
 * The line of the code at which it has failed: the innermost one of the stack; null where that is not known. QuickJS tells a
 * property of null at the call or operator before it, so the line is looked for there: it is the only one behind that names
 * the property.
 */
export function findErrorLine(stack: string, message: string, code: string): number | null {
  const told = /\bcode\.js:(\d{1,9})/.exec(stack)?.[1];
  if (told === undefined) return null;
  const lines = code.split('\n');
  // The wrapper of the code ends on a line of its own.
  const line = Math.min(Number(told), lines.length);
  const property = OF_NOTHING.exec(message)?.[1];
  if (property === undefined) return line;
  const named = lines.flatMap((text, at) => (at + 1 >= line && namesProperty(text, property) ? [at + 1] : []));
  return named.length === 1 ? named[0]! : null;
}

function namesProperty(text: string, property: string): boolean {
  for (let at = text.indexOf(property); at >= 0; at = text.indexOf(property, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + property.length)];
    if (!isPartOfName(before) && !isPartOfName(after)) return true;
  }
  return false;
}

function isPartOfName(character: string): boolean {
  return /[\p{L}\p{N}_$]/u.test(character);
}
