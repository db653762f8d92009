// The libraries that code may use, and the functions outside QuickJS that code may call: the texts of dates in any time
// zone, for which QuickJS has no data, and digests and random bytes of Node.js.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';

/** Where the build puts the libraries (scripts/code-libraries.mjs). Tests run this file from its source. */
const FOLDER = path.resolve(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? '../../../../dist/code-libraries' : '../../../../code-libraries',
);
/** Each library is a file of its name, which defines a variable of that name. */
const NAMES: ReadonlySet<string> = new Set([
  'cheerio',
  'htmlToMarkdown',
  'htmlToText',
  'luxon',
  'Papa',
  'showdown',
  'xlsx',
  'xml2js',
]);
const sources = new Map<string, string>();

function sourceOf(name: string): string {
  if (!NAMES.has(name)) return '';
  let source = sources.get(name);
  if (source === undefined) sources.set(name, (source = readFileSync(path.join(FOLDER, `${name}.js`), 'utf8')));
  return source;
}

const OPTIONS = new Set([
  'timeZone',
  'hourCycle',
  'hour12',
  'calendar',
  'numberingSystem',
  'weekday',
  'era',
  'year',
  'month',
  'day',
  'dayPeriod',
  'hour',
  'minute',
  'second',
  'fractionalSecondDigits',
  'timeZoneName',
  'dateStyle',
  'timeStyle',
]);
const LOCALE = /^[\w-]{1,80}$/;
const MAX_VALUE_CHARACTERS = 60;
const MAX_FORMATS = 50;
/** Creating a format takes much longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

interface DateRequest {
  what?: unknown;
  locale?: unknown;
  options?: unknown;
  time?: unknown;
}

/**
 * Returns JSON text, or an empty text for an invalid locale, value of an option, or time. A locale that does not match
 * `LOCALE` becomes `en-US`. Options outside `OPTIONS` are ignored.
 */
function formatDate(json: string): string {
  try {
    const { what, locale, options, time } = JSON.parse(json) as DateRequest;
    const format = formatOf(locale, options);
    // JSON has null for NaN, the time of an invalid date.
    const ms = Number(time ?? NaN);
    if (what === 'resolve') return JSON.stringify(format.resolvedOptions());
    return JSON.stringify(what === 'parts' ? format.formatToParts(ms) : format.format(ms));
  } catch {
    return '';
  }
}

function formatOf(locale: unknown, options: unknown): Intl.DateTimeFormat {
  const known = Object.entries((options ?? {}) as Record<string, unknown>).filter(([name]) => OPTIONS.has(name));
  if (known.some(([, value]) => String(value).length > MAX_VALUE_CHARACTERS))
    throw new RangeError('a value is too long');
  const language = typeof locale === 'string' && LOCALE.test(locale) ? locale : 'en-US';
  const key = JSON.stringify([language, known]);
  let format = formats.get(key);
  if (format !== undefined) return format;
  const [oldest] = formats.keys();
  if (oldest !== undefined && formats.size >= MAX_FORMATS) formats.delete(oldest);
  format = new Intl.DateTimeFormat(language, Object.fromEntries(known));
  formats.set(key, format);
  return format;
}

const ALGORITHMS: ReadonlySet<string> = new Set([
  'md5',
  'sha1',
  'sha256',
  'sha384',
  'sha512',
  'sha3-256',
  'sha3-384',
  'sha3-512',
]);
const MAX_RANDOM_BYTES = 65_536;

interface DigestRequest {
  algorithm?: unknown;
  text?: unknown;
  /** The key of an HMAC. */
  secret?: unknown;
  encoding?: unknown;
}

/** Returns the digest of a text, or an empty text for an algorithm or encoding that is not supported. */
function digest(json: string): string {
  try {
    const { algorithm, text, secret, encoding } = JSON.parse(json) as DigestRequest;
    const name = String(algorithm).toLowerCase();
    if (!ALGORITHMS.has(name) || (encoding !== 'hex' && encoding !== 'base64') || typeof text !== 'string') return '';
    const hash = typeof secret === 'string' ? createHmac(name, secret) : createHash(name);
    return hash.update(text, 'utf8').digest(encoding);
  } catch {
    return '';
  }
}

/** Returns random bytes as hexadecimal text, or an empty text unless the number is from 1 to `MAX_RANDOM_BYTES`. */
function randomHex(json: string): string {
  const count = Number(json);
  return Number.isInteger(count) && count > 0 && count <= MAX_RANDOM_BYTES ? randomBytes(count).toString('hex') : '';
}

/**
 * `source(name)` returns the text of a library, `formatDate(json)` answers a `DateRequest`, `digest(json)` a
 * `DigestRequest`, and `randomHex(json)` gives that number of random bytes.
 */
export function createLibraries(vm: QuickJSContext, readText: (handle: QuickJSHandle) => string) {
  const of = (name: string, answer: (text: string) => string) =>
    vm.newFunction(name, (text) => vm.newString(answer(readText(text))));
  return {
    source: of('source', sourceOf),
    formatDate: of('formatDate', formatDate),
    digest: of('digest', digest),
    randomHex: of('randomHex', randomHex),
  };
}
