// Splits a command as a POSIX shell does, without expanding anything.

/** Thrown for a text that is no readable cURL command. The message is the reason. */
export class UnreadableCommand extends Error {}

interface Split {
  words: string[];
  /** The text after the first command, such as `| jq .`; empty if there is none. */
  rest: string;
}

const OPERATORS = /^(?:[|;&\n]|[12]?>)/;

/** Throws an `UnreadableCommand` if a quote is not closed. */
export function splitCommand(text: string): Split {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  const take = (piece: { value: string; end: number }): void => {
    word = (word ?? '') + piece.value;
    at = piece.end;
  };
  const end = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const gap = /^(?:[ \t\r]|\\\r?\n)+/.exec(rest)?.[0];
    if (gap !== undefined) {
      end();
      at += gap.length;
    } else if (rest.startsWith("$'")) take(ansiQuoted(text, at + 2));
    else if (rest.startsWith("'")) take(singleQuoted(text, at + 1));
    else if (rest.startsWith('"')) take(doubleQuoted(text, at + 1));
    else if (rest.startsWith('\\')) take({ value: text.charAt(at + 1), end: at + 2 });
    else if (word === undefined && OPERATORS.test(rest)) {
      if (words.length > 0) return { words, rest: rest.trim() };
      at += 1;
    } else if (/^[|;&\n]/.test(rest)) end();
    else take({ value: text.charAt(at), end: at + 1 });
  }
  end();
  return { words, rest: '' };
}

function singleQuoted(text: string, from: number): { value: string; end: number } {
  const end = text.indexOf("'", from);
  if (end < 0) throw new UnreadableCommand('A single quote is not closed.');
  return { value: text.slice(from, end), end: end + 1 };
}

function doubleQuoted(text: string, from: number): { value: string; end: number } {
  let value = '';
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '"') return { value, end: at + 1 };
    if (sign === '\\' && /["\\$`\n]/.test(text.charAt(at + 1))) {
      at += 1;
      if (text.charAt(at) !== '\n') value += text.charAt(at);
    } else value += sign;
  }
  throw new UnreadableCommand('A double quote is not closed.');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', "'": "'", '"': '"', '\\': '\\' };

/** Browsers copy a text as `$'...'` if it holds, for example, line breaks or single quotes. */
function ansiQuoted(text: string, from: number): { value: string; end: number } {
  let value = '';
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === "'") return { value, end: at + 1 };
    if (sign !== '\\') {
      value += sign;
      continue;
    }
    const code = /^(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8}))/.exec(text.slice(at + 1, at + 10));
    if (code !== null) {
      const number = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16);
      value += number > 0x10_ff_ff ? '\uFFFD' : String.fromCodePoint(number);
      at += code[0].length;
    } else {
      at += 1;
      value += ESCAPES[text.charAt(at)] ?? `\\${text.charAt(at)}`;
    }
  }
  throw new UnreadableCommand('A single quote is not closed.');
}
