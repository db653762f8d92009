// The part of the sandbox that runs inside QuickJS, before and around the code. Code can change built-in objects only
// in its own instance. The prelude nevertheless stores the built-ins that it needs (except for libraries and their
// dates) before the code starts, so that a program fails because of its own errors only.

/** The file name of the code in stack traces. */
export const CODE_FILE = 'code.js';

/**
 * An expression for a function `(log, ask, marker, maxCharacters, maxLog, maxMessage, librarySource, formatDate,
 * digest, randomHex)`. The function defines `console`, `file`, `save`, `crypto` and the libraries (libraries.ts), and
 * returns `{ run, describe, settle, fail }`.
 *
 * `log` receives a line as JSON text. `run(program, inputs, hasMarks)` returns a promise of JSON text: `{"json",
 * "marks"}` (the returned value and the number of its BigInts), `{"tooLarge"}`, or `{"name", "message", "stack",
 * "code"}`, which `describe(thrown)` also returns.
 *
 * `ask(request, content)` receives a `FileRequest` as JSON text without the size of `content`. The content is an
 * ArrayBuffer, a text, or the JSON of a text that has null characters (`isJson` of the request). `ask` returns the
 * number of the request. `settle(number, value, isJson)` resolves the request, and `fail(number, code, message)`
 * rejects it.
 *
 * The JSON of a file begins with `marker` if it may have integers beyond 2^53. The integers that a double cannot
 * represent are then strings with the marker.
 */
export const PRELUDE = String.raw`
(function (log, ask, marker, maxCharacters, maxLog, maxMessage, librarySource, formatDate, digest, randomHex) {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { ArrayBuffer, BigInt, Error, parseInt, Promise, RangeError, String, TypeError, Uint8Array, WeakMap } = globalThis;
  const { includes, startsWith, slice } = String.prototype;
  const { isInteger, isSafeInteger } = Number;
  const { isView } = ArrayBuffer;
  const { get, set } = WeakMap.prototype;
  const cutBuffer = ArrayBuffer.prototype.slice;

  // Nothing here shares memory, and waiting for it would block the process.
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;

  const cut = (text, length) => apply(slice, text, [0, length]);
  const isErrorLike = (value) => typeof value === 'object' && value !== null && value instanceof Error;

  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (isErrorLike(value)) return String(value.name) + ': ' + String(value.message);
      const text = stringify(value, (key, item) => (typeof item === 'bigint' ? String(item) : item));
      if (typeof text === 'string' && typeof value !== 'bigint') return text;
      return typeof value === 'function' ? '[function]' : String(value);
    } catch {
      return '[' + typeof value + ']';
    }
  };

  let room = maxLog;
  const print = (...values) => {
    if (room < 0) return;
    let line = '';
    for (let index = 0; index < values.length && line.length <= room; index += 1) {
      line += (index === 0 ? '' : ' ') + show(values[index]);
    }
    // The texts leave as JSON, because a text ends at its first null character on its way out.
    log(stringify(cut(line, room + 1)));
    room -= line.length + 1;
  };
  const console = { log: print, info: print, warn: print, error: print, debug: print };
  Object.defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true });

  const revive = (key, value) =>
    typeof value === 'string' && apply(startsWith, value, [marker])
      ? BigInt(apply(slice, value, [marker.length]))
      : value;

  // The service has made sure that a double beyond 2^53 is the number that the file has.
  const reviveFile = (key, value) =>
    typeof value === 'number' && isInteger(value) && !isSafeInteger(value) && value < 1e21 && value > -1e21
      ? BigInt(value)
      : revive(key, value);
  const parseFile = (text) =>
    apply(startsWith, text, [marker]) ? parse(apply(slice, text, [marker.length]), reviveFile) : parse(text);

  const write = (returned) => {
    let marks = 0;
    const json = stringify(returned === undefined ? null : returned, (key, value) => {
      if (typeof value !== 'bigint') return value;
      marks += 1;
      return marker + value;
    });
    if (typeof json !== 'string') throw new TypeError('the code returned a ' + typeof returned + ', which is no JSON');
    if (json.length - marks * (marker.length + 2) > maxCharacters) return '{"tooLarge":true}';
    return stringify({ __proto__: null, json, marks });
  };

  const describe = (thrown) => {
    // If QuickJS has no memory for an array, as in [].toSorted.call({ length: 2 ** 32 - 2 }), it throws something that
    // is not a JavaScript value, and whose typeof is 'unknown'.
    if (typeof thrown === 'unknown') return '{"name":"InternalError","message":"out of memory","stack":""}';
    try {
      const { name, message, stack } = isErrorLike(thrown)
        ? thrown
        : { name: '', message: show(thrown), stack: '' };
      return stringify({
        __proto__: null,
        name: cut(show(name), 100),
        message: cut(show(message), maxMessage),
        code: isErrorLike(thrown) ? apply(get, codes, [thrown]) : undefined,
        stack: cut(show(stack), 2 * maxMessage),
      });
    } catch {
      return '{"name":"","message":"The code threw something that cannot be shown.","stack":""}';
    }
  };

  // The error codes of the service, which a program cannot make up.
  const codes = new WeakMap();
  const waiting = { __proto__: null };
  const request = (what, content) =>
    new Promise((resolve, reject) => {
      waiting[ask(stringify({ __proto__: null, ...what }), content)] = { resolve, reject };
    });
  const take = (number) => {
    const { resolve, reject } = waiting[number];
    delete waiting[number];
    return { resolve, reject };
  };
  const settle = (number, value, isJson) => take(number).resolve(isJson ? parse(value) : value);
  const fail = (number, code, message) => {
    const error = new Error(message);
    error.code = code;
    apply(set, codes, [error, code]);
    take(number).reject(error);
  };

  const file = (value) => {
    const fileId = typeof value === 'object' && value !== null ? value.file_id : undefined;
    if (typeof fileId !== 'string') throw new TypeError('file() needs a file');
    const read = (as) => request({ status: 'read', fileId: cut(fileId, 100), as });
    return {
      text: () => read('text'),
      bytes: async () => new Uint8Array(await read('bytes')),
      json: async () => parseFile(await read('json')),
    };
  };
  const save = async (name, content, type) => {
    if (typeof name !== 'string') throw new TypeError('save() needs a name');
    const what = {
      status: 'save',
      // The service keeps only the last part of a path, and a type of more than 255 characters is invalid.
      name: apply(slice, name, [-4096]),
      type: type === undefined || type === null ? null : cut(show(type), 256),
    };
    if (typeof content === 'string') {
      what.type ??= 'text/plain';
      what.isJson = apply(includes, content, ['\0']);
      return await request(what, what.isJson ? stringify(content) : content);
    }
    if (isView(content)) {
      const { buffer, byteOffset, byteLength } = content;
      return await request(what, apply(cutBuffer, buffer, [byteOffset, byteOffset + byteLength]));
    }
    if (content instanceof ArrayBuffer) return await request(what, content);
    throw new TypeError('save() needs bytes or a text');
  };
  for (const [name, value] of [['file', file], ['save', save]]) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }

  // A library is loaded when the code first reads it.
  const { eval: evaluate } = globalThis;
  class DateTimeFormat {
    #locale;
    #options;
    #resolved;
    constructor(locale, options) {
      this.#locale = locale === undefined ? undefined : String(locale);
      this.#options = { ...options };
      this.#resolved = this.#ask('resolve');
    }
    #ask(what, date) {
      const time = date === undefined ? undefined : Number(date);
      const answer = formatDate(stringify({ __proto__: null, what, locale: this.#locale, options: this.#options, time }));
      if (answer === '') throw new RangeError('Invalid locale, format, time zone or time of a date');
      return parse(answer);
    }
    format(date) {
      return this.#ask('text', date ?? Date.now());
    }
    formatToParts(date) {
      return this.#ask('parts', date ?? Date.now());
    }
    resolvedOptions() {
      return { ...this.#resolved };
    }
  }
  const load = (name) => {
    let library;
    Object.defineProperty(globalThis, name, {
      get: () => (library ??= evaluate('(function (Intl) {' + librarySource(name) + '\nreturn ' + name + ';})')({ DateTimeFormat })),
      set: (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true }),
      configurable: true,
    });
  };
  const libraries = ['cheerio', 'htmlToMarkdown', 'htmlToText', 'luxon', 'Papa', 'showdown', 'xlsx', 'xml2js'];
  for (const name of libraries) load(name);

  const answered = (answer, what) => {
    if (answer === '') throw new RangeError('Invalid ' + what);
    return answer;
  };
  const toDigest = (request) => answered(digest(stringify({ __proto__: null, ...request })), 'algorithm or encoding');
  const toHex = (count) => answered(randomHex(stringify(count) ?? ''), 'number of random bytes');
  const crypto = {
    hash: (algorithm, text, encoding = 'hex') => toDigest({ algorithm, text: String(text), encoding }),
    hmac: (algorithm, secret, text, encoding = 'hex') =>
      toDigest({ algorithm, secret: String(secret), text: String(text), encoding }),
    randomBytes: (count) => {
      const hex = toHex(count);
      const bytes = new Uint8Array(hex.length / 2);
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = parseInt(apply(slice, hex, [2 * at, 2 * at + 2]), 16);
      return bytes;
    },
    randomUUID: () => {
      const hex = toHex(16);
      const part = (from, to) => apply(slice, hex, [from, to]);
      const variant = '89ab'[parseInt(part(16, 17), 16) % 4];
      return part(0, 8) + '-' + part(8, 12) + '-4' + part(13, 16) + '-' + variant + part(17, 20) + '-' + part(20, 32);
    },
  };
  Object.defineProperty(globalThis, 'crypto', { value: crypto, writable: true, configurable: true });

  const run = async (program, inputs, hasMarks) => {
    try {
      return write(await program(hasMarks ? parse(inputs, revive) : parse(inputs)));
    } catch (thrown) {
      return describe(thrown);
    }
  };
  return { run, describe, settle, fail };
})
`;
