// The libraries that code may use, and what they need of the outside: the texts of dates in any time zone, for which
// QuickJS has no data.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';

const { resolve } = createRequire(import.meta.url);
/** Returns the file of a library, which defines a variable of the library's name. */
const FILES: Readonly<Record<string, () => string>> = {
  luxon: () => path.resolve(path.dirname(resolve('luxon')), '../global/luxon.min.js'),
};
const sources = new Map<string, string>();

function sourceOf(name: string): string {
  const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (file === undefined) return '';
  let source = sources.get(name);
  if (source === undefined) sources.set(name, (source = readFileSync(file(), 'utf8')));
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

/** Returns JSON text, or an empty text for a format, time zone or time that there is not. */
function formatDate(json: string): string {
  try {
    const { what, locale, options, time } = JSON.parse(json) as DateRequest;
    const format = formatOf(locale, options);
    if (what === 'resolve') return JSON.stringify(format.resolvedOptions());
    return JSON.stringify(what === 'parts' ? format.formatToParts(Number(time)) : format.format(Number(time)));
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

/** `source(name)` returns the text of a library, and `formatDate(json)` answers a `DateRequest`. */
export function createLibraries(vm: QuickJSContext, readText: (handle: QuickJSHandle) => string) {
  return {
    source: vm.newFunction('source', (name) => vm.newString(sourceOf(readText(name)))),
    formatDate: vm.newFunction('formatDate', (json) => vm.newString(formatDate(readText(json)))),
  };
}
