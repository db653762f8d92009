// Finds the JSON in a text: bare, after a model's reasoning, or in a Markdown code fence.
import { parseModestJson } from './json-text.js';

/**
 * Returns the JSON value of a text, or undefined if there is none or it has too many values. A text that is JSON is
 * parsed as it is, whatever its strings contain. From any other text a leading think block is removed. The rest must be
 * JSON, or exactly one of its fenced blocks must be.
 */
export function findJson(text: string): unknown {
  const whole = parseOrNone(text);
  if (whole !== undefined) return whole;
  const answer = withoutThoughts(text);
  const bare = answer === text ? undefined : parseOrNone(answer);
  return bare === undefined ? onlyFencedJson(answer) : bare;
}

function parseOrNone(text: string): unknown {
  try {
    return parseModestJson(text.trim());
  } catch {
    return undefined;
  }
}

const [THOUGHTS, END_OF_THOUGHTS] = ['<think>', '</think>'];

function withoutThoughts(text: string): string {
  const end = text.trimStart().startsWith(THOUGHTS) ? text.indexOf(END_OF_THOUGHTS) : -1;
  return end < 0 ? text : text.slice(end + END_OF_THOUGHTS.length);
}

/** The limit on fenced blocks, because each costs much more time than its length suggests. No real answer has more. */
const MAX_BLOCKS = 1_000;

function onlyFencedJson(text: string): unknown {
  let found: unknown;
  let count = 0;
  for (const { info, body } of fencedBlocks(text)) {
    count += 1;
    if (count > MAX_BLOCKS) return undefined;
    // The value may start on the opening line, after the name of the language.
    const value = parseOrNone(body) ?? parseOrNone(`${info.replace(/^[ \t]*[\w+.-]*/, '')}\n${body}`);
    if (value === undefined) continue;
    if (found !== undefined) return undefined;
    found = value;
  }
  return found;
}

interface FencedBlock {
  /** The rest of the opening line: a language and attributes, or the start of the value. */
  info: string;
  body: string;
}

/**
 * Yields the fenced blocks of a text in linear time. An unclosed block extends to the end. The closing fence may follow
 * the value on the same line, because no line of JSON ends with a fence.
 */
function* fencedBlocks(text: string): Generator<FencedBlock> {
  if (!text.includes('```') && !text.includes('~~~')) return;
  let open: { mark: string; info: string; start: number } | undefined;
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    const lineEnd = text.indexOf('\n', start);
    end = lineEnd < 0 ? text.length : lineEnd;
    const line = text.slice(start, end).trim();
    if (open === undefined) {
      const mark = /^(?:`{3,}|~{3,})/.exec(line)?.[0];
      if (mark === undefined) continue;
      const info = line.slice(mark.length);
      if (info.endsWith(mark)) yield { info: info.slice(0, -mark.length), body: '' };
      // A line with another backtick is inline code.
      else if (!info.includes('`')) open = { mark, info, start: end + 1 };
    } else if (line.endsWith(open.mark)) {
      yield { info: open.info, body: withoutEnd(text.slice(open.start, end), open.mark) };
      open = undefined;
    }
  }
  if (open !== undefined) yield { info: open.info, body: text.slice(open.start) };
}

/** A closing fence may be longer than the opening one. */
function withoutEnd(block: string, mark: string): string {
  let end = block.trimEnd().length;
  while (block[end - 1] === mark[0]) end -= 1;
  return block.slice(0, end);
}
