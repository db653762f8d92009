// The options of curl that the import recognizes.

/** Options with a value, each with all of its names. The first name identifies the option. */
const WITH_VALUE: readonly (readonly string[])[] = [
  ['request', 'X'],
  ['header', 'H'],
  ['data', 'd', 'data-ascii'],
  ['data-raw'],
  ['data-binary'],
  ['data-urlencode'],
  ['json'],
  ['form', 'F'],
  ['form-string'],
  ['user', 'u'],
  ['user-agent', 'A'],
  ['referer', 'e'],
  ['cookie', 'b'],
  ['oauth2-bearer'],
  ['max-time', 'm'],
  ['url'],
  ['upload-file', 'T'],
  ['url-query'],
  ['range', 'r'],
  // The following options are not read. They are listed so that their values are not taken for addresses.
  ['proxy', 'x'],
  ['cert', 'E'],
  ['key'],
  ['cacert'],
  ['cookie-jar', 'c'],
  ['connect-timeout'],
  ['retry'],
  ['retry-delay'],
  ['resolve'],
  ['interface'],
  ['limit-rate'],
  ['aws-sigv4'],
  ['config', 'K'],
  ['output', 'o'],
  ['write-out', 'w'],
  ['dump-header', 'D'],
];

/** Options without a value that are ignored without a remark, because they do not change what the node sends. */
const QUIET = [
  'silent',
  's',
  'show-error',
  'S',
  'verbose',
  'v',
  'include',
  'i',
  'fail',
  'f',
  'compressed',
  'location',
  'L',
  'progress-bar',
  '#',
  'globoff',
  'g',
  'no-buffer',
  'N',
  'http1.1',
  'http2',
  'remote-name',
  'O',
];
/** Options with a value that only concern curl's output. */
const OF_OUTPUT = ['output', 'write-out', 'dump-header'];

export interface Option {
  name: string;
  value: string;
}

interface ReadOptions {
  options: Option[];
  /** Words that are no options. */
  addresses: string[];
  /** Options that are not recognized, as they are written. */
  unknown: string[];
}

/** Reads the words after `curl`. */
export function readOptions(words: readonly string[]): ReadOptions {
  const found: ReadOptions = { options: [], addresses: [], unknown: [] };
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!word.startsWith('-') || word === '-') found.addresses.push(word);
    else if (word.startsWith('--')) readLong(word.slice(2), queue, found);
    else readShort(word.slice(1), queue, found);
  }
  found.options = found.options.filter(({ name }) => !OF_OUTPUT.includes(name));
  return found;
}

function readLong(word: string, queue: string[], found: ReadOptions): void {
  const [written = '', ...rest] = word.split('=');
  const name = fullName(written);
  if (name !== undefined) found.options.push({ name, value: rest.length > 0 ? rest.join('=') : (queue.shift() ?? '') });
  else readFlag(written, `--${written}`, found);
}

/** `-sXPOST` is `-s -X POST`. */
function readShort(word: string, queue: string[], found: ReadOptions): void {
  for (const [at, letter] of Array.from(word).entries()) {
    const name = fullName(letter);
    if (name !== undefined) {
      const rest = word.slice(at + 1);
      found.options.push({ name, value: rest === '' ? (queue.shift() ?? '') : rest });
      return;
    }
    readFlag(letter, `-${letter}`, found);
  }
}

function readFlag(name: string, written: string, found: ReadOptions): void {
  if (name === 'get' || name === 'G') found.options.push({ name: 'get', value: '' });
  else if (name === 'head' || name === 'I') found.options.push({ name: 'head', value: '' });
  else if (!QUIET.includes(name)) found.unknown.push(written);
}

function fullName(name: string): string | undefined {
  return WITH_VALUE.find((names) => names.includes(name))?.[0];
}
