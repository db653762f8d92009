// From the bytes of a request to JSON that can be stored: what the database or a later reader would choke on is refused.
import { parseError } from './errors.js';

/** Deeper JSON is nobody's drawing, and overflows the stack of every recursive reader. */
const MAX_DEPTH = 200;

/** Throws the 400 for bytes that are no UTF-8. A byte order mark is dropped. */
export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw parseError('the body is not valid UTF-8.', cause);
  }
}

/** Throws the 400 of a body that is no JSON, too deep, or holds text that cannot be stored. */
export function parseJsonBody(text: string): unknown {
  const value = parsePassingJson(text);
  refuseUnstorableText(text, value);
  return value;
}

/** The same for JSON that is looked at and passed on: only what is no JSON or too deep is refused. */
export function parsePassingJson(text: string): unknown {
  refuseDeepJson(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's own message quotes the body, which may hold a secret: only the position is passed on.
    const position = /position \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    throw parseError(`the body is not valid JSON${position === undefined ? '' : ` at ${position}`}.`);
  }
}

/** Throws the 400 of a free text (perhaps JSON) that is kept or parsed later. */
export function checkFreeText(text: string): void {
  refuseDeepJson(text);
  if (text.includes('\0')) throw unstorable();
  if (!mayHoldUnstorableText(text)) return;
  try {
    refuseUnstorableText(text, JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // No JSON: its escapes are plain characters.
  }
}

function refuseUnstorableText(text: string, value: unknown): void {
  if (mayHoldUnstorableText(text) && holdsUnstorableText(value)) throw unstorable();
}

function unstorable(): Error {
  return parseError('null characters and lone surrogates are not allowed.');
}

// Valid UTF-8 holds neither, and raw control characters are no JSON: both can only come from an escape.
function mayHoldUnstorableText(text: string): boolean {
  return /\\u(?:0000|[dD][89a-fA-F])/.test(text);
}

function holdsUnstorableText(root: unknown): boolean {
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      if (isUnstorable(value)) return true;
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (isUnstorable(key)) return true;
        open.push(member);
      }
    }
  }
  return false;
}

function isUnstorable(text: string): boolean {
  return text.includes('\0') || /\p{Surrogate}/u.test(text);
}

/** Counts brackets outside strings before the parser may allocate for them. Text that is no JSON is not judged. */
function refuseDeepJson(text: string): void {
  if (!/^\s*[[{]/.test(text)) return;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
      depth += 1;
      if (depth > MAX_DEPTH) throw parseError(`nested deeper than ${MAX_DEPTH} levels.`);
    } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth -= 1;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
