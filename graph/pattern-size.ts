// Computes the size of a compiled pattern before compiling it. A counted repetition copies its operand, so twenty
// characters can stand for ten thousand instructions.

/** A group starts with `(`, `(?:`, `(?i:`, `(?P<name>` or `(?<name>`. `(?i)` has the start `(?i` and no content. */
const GROUP = /^\((?:\?(?:P?<\w+>|[a-zA-Z-]*:|[a-zA-Z-]+(?=\))))?/;
/** The limit on a group's start. The characters of a longer name are counted as atoms, which only raises the bound. */
const MAX_OPENING = 100;
/** Instructions that record the start and end of a group. */
const CAPTURE = 2;
/** Instructions of `*` if its operand may be empty; otherwise one less. */
const LOOP = 2;

interface Level {
  /** Instructions of the completed part of the group. */
  size: number;
  /** Instructions of the last atom, which a repetition may follow. */
  last: number;
  /** True while the alternative has no atom. */
  isEmpty: boolean;
}

/**
 * Returns an upper bound of the instructions to which a pattern in RE2 syntax compiles. For an invalid pattern the
 * number is meaningless. Takes linear time.
 */
export function patternSize(pattern: string): number {
  const outer: Level[] = [];
  const lastNameEnd = pattern.lastIndexOf(':]');
  let level = begin(0);
  const atom = (size: number): void => {
    level = { size: level.size + level.last, last: size, isEmpty: false };
  };
  for (let at = 0; at < pattern.length; at += 1) {
    switch (pattern.charAt(at)) {
      case '\\': {
        const end = endOfEscape(pattern, at);
        atom(pattern[at + 1] === 'Q' ? end - at : 1);
        at = end - 1;
        break;
      }
      case '[':
        at = endOfClass(pattern, at, lastNameEnd) - 1;
        atom(1);
        break;
      case '(': {
        const [opened] = GROUP.exec(pattern.slice(at, at + MAX_OPENING))!;
        outer.push(level);
        level = begin(opened === '(' || opened.endsWith('>') ? CAPTURE : 0);
        at += opened.length - 1;
        break;
      }
      case ')': {
        const inside = sizeOf(level);
        level = outer.pop() ?? begin(0);
        atom(inside);
        break;
      }
      case '|':
        level = begin(sizeOf(level) + 1);
        break;
      case '{': {
        const repeated = /^\{(\d{1,8})(?:,(\d{0,8}))?\}/.exec(pattern.slice(at, at + 20));
        if (repeated === null) atom(1);
        else {
          level.last = repeatedSize(level.last, Number(repeated[1]), repeated[2]);
          at += repeated[0].length - 1;
        }
        break;
      }
      case '*':
      case '+':
      case '?':
        level.last += LOOP;
        break;
      default:
        atom(1);
    }
  }
  return outer.reduce((sum, each) => sum + sizeOf(each), sizeOf(level)) + 2;
}

function begin(size: number): Level {
  return { size, last: 0, isEmpty: true };
}

/** An empty alternative compiles to a no-op instruction. */
function sizeOf({ size, last, isEmpty }: Level): number {
  return size + last + (isEmpty ? 1 : 0);
}

/** `most` is undefined for `{least}` and empty for `{least,}`. */
function repeatedSize(size: number, least: number, most: string | undefined): number {
  if (most === undefined) return size * Math.max(1, least);
  if (most === '') return size * (least + 1) + LOOP;
  return (size + 1) * Math.max(1, Number(most));
}

/** `\Q...\E` is literal, and in `\x{41}` and `\p{Greek}` the braces belong to the escape. */
function endOfEscape(pattern: string, at: number): number {
  if (pattern[at + 1] === 'Q') return endAfter(pattern, '\\E', at + 2);
  return /^\\[xpP]\{/.test(pattern.slice(at, at + 3)) ? endAfter(pattern, '}', at + 3) : at + 2;
}

function endAfter(pattern: string, closing: string, from: number): number {
  const end = pattern.indexOf(closing, from);
  return end < 0 ? pattern.length : end + closing.length;
}

/** `lastNameEnd`: the last `:]` of the pattern, so that none is searched for in vain at each `[:`. */
function endOfClass(pattern: string, start: number, lastNameEnd: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at += 1;
  // A leading `]` is a character of the class.
  if (pattern[at] === ']') at += 1;
  while (at < pattern.length && pattern[at] !== ']') {
    if (pattern[at] === '[' && pattern[at + 1] === ':' && at + 2 <= lastNameEnd) {
      at = pattern.indexOf(':]', at + 2) + 2;
    } else at += pattern[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}
