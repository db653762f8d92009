// The strings of JavaScript, roughly: a regular expression with a quote in it can hide the rest of its line.

export interface SplitCode {
  /** The code without comments, with `"0"`, `"1"` and so on in place of its strings. */
  bare: string;
  strings: string[];
}

/** Reads the code once, from left to right. Template literals stay: they hold code. */
export function splitStrings(code: string): SplitCode {
  const strings: string[] = [];
  const bare: string[] = [];
  let from = 0;
  for (let at = 0; at < code.length;) {
    const end = endOfText(code, at);
    if (end === at) {
      at += 1;
      continue;
    }
    bare.push(code.slice(from, at));
    if (code[at] === '/') bare.push(' ');
    else bare.push(`"${strings.push(code.slice(at + 1, end - 1)) - 1}"`);
    at = from = end;
  }
  bare.push(code.slice(from));
  return { bare: bare.join(''), strings };
}

/** Returns where the string or comment ends that begins at `at`; `at` itself where none begins. */
function endOfText(code: string, at: number): number {
  const quote = code[at];
  if (quote === '"' || quote === "'") {
    let end = at + 1;
    while (end < code.length && code[end] !== quote && code[end] !== '\n') end += code[end] === '\\' ? 2 : 1;
    return Math.min(end + 1, code.length);
  }
  if (code.startsWith('//', at)) return orEnd(code, code.indexOf('\n', at));
  if (code.startsWith('/*', at)) {
    const close = code.indexOf('*/', at + 2);
    return close < 0 ? code.length : close + 2;
  }
  return at;
}

function orEnd(code: string, index: number): number {
  return index < 0 ? code.length : index;
}
