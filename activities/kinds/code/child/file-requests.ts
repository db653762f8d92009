// Passes the requests of a program to read and save files to the worker, one after another.
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import { mayHoldInexactNumber } from '../../../../graph/exact-number.js';
import { replaceInexactNumbers } from '../../../../graph/json-text.js';
import { MAX_FILE_BYTES, type Answer, type FileRequest } from './messages.js';

type Answered = Buffer | Exclude<Answer, { size: number }>;

/**
 * Sends a request to the worker, followed by the content to save. Resolves with the bytes of a file, or the answer.
 * Calls `onPaused` with the `pausedMs` of the answer.
 */
export type AskWorker = (
  request: FileRequest,
  content: Buffer,
  onPaused: (pausedMs: number) => void,
) => Promise<Answered>;

/** Like `AskWorker`, but adds the wait to the time of the program. */
export type AskTimed = (request: FileRequest, content: Buffer) => Promise<Answered>;

interface Open {
  number: number;
  request: FileRequest;
  content: Buffer;
}

/** The functions of the prelude that settle the promises of the program. */
interface Settling {
  settle: QuickJSHandle;
  fail: QuickJSHandle;
}

export interface FileRequests {
  ask: QuickJSHandle;
  /** Sends the oldest open request. `full`: the instance has no memory for the answer, and cannot continue. */
  next(askWorker: AskTimed, settling: Settling): Promise<'settled' | 'none' | 'full'>;
}

/**
 * Limits the content that all save requests of a program copy from the instance, to twice the limit of the worker: a
 * text with null characters is measured as JSON, which is longer.
 */
const MAX_CONTENT_BYTES = 2 * MAX_FILE_BYTES;
const NO_BYTES = Buffer.alloc(0);

const DIGITS = /^-?\d+$/;

/**
 * Replaces each integer that no double represents with a marked string. The marker before the whole text tells the
 * prelude to turn these strings, and all other integers beyond 2^53, into BigInt.
 */
function markIntegers(json: string, marker: string): string {
  if (!mayHoldInexactNumber(json)) return json;
  return marker + replaceInexactNumbers(json, (number) => (DIGITS.test(number) ? `"${marker}${number}"` : number));
}

/** `refusals` returns how often the instance was refused memory. `marker` is `Program.marker`. */
export function createFileRequests(vm: QuickJSContext, refusals: () => number, marker: string): FileRequests {
  const open: Open[] = [];
  let asked = 0;
  let contentBytes = 0;

  /** `isJson`: the prelude has written the text as JSON, because the text has null characters. */
  function copyContent(content: QuickJSHandle, isJson: boolean): Buffer {
    if (vm.typeof(content) !== 'string') {
      const bytes = vm.getArrayBuffer(content);
      const copy = Buffer.from(bytes.value);
      bytes.dispose();
      return copy;
    }
    const text = vm.getString(content);
    // The instance had no memory to copy the text.
    if (text === '' && lengthOf(content) > 0) throw new Error('out of memory');
    return Buffer.from(isJson ? (JSON.parse(text) as string) : text);
  }

  function lengthOf(content: QuickJSHandle): number {
    return vm.getNumber(vm.getProp(content, vm.typeof(content) === 'string' ? 'length' : 'byteLength'));
  }

  /** Content that is too large is not copied from the instance, because the worker refuses it for its size. */
  function toRequest({ isJson = false, ...request }: FileRequest & { isJson?: boolean }, handle: QuickJSHandle): Open {
    const number = (asked += 1);
    if (request.status === 'read') return { number, request, content: NO_BYTES };
    const length = lengthOf(handle);
    const isTooLarge = contentBytes + length > MAX_CONTENT_BYTES;
    const content = isTooLarge ? NO_BYTES : copyContent(handle, isJson);
    contentBytes += content.length;
    return { number, request: { ...request, size: isTooLarge ? length : content.length }, content };
  }

  function toHandle(value: Buffer | object, as: 'bytes' | 'text' | 'json'): [value: QuickJSHandle, isJson: boolean] {
    if (!Buffer.isBuffer(value)) return [vm.newString(JSON.stringify(value)), true];
    if (as === 'bytes') return [vm.newArrayBuffer(new Uint8Array(value).buffer), false];
    const text = as === 'json' ? markIntegers(value.toString('utf8'), marker) : value.toString('utf8');
    // QuickJS reads a text only up to its first null character.
    return text.includes('\0') ? [vm.newString(JSON.stringify(text)), true] : [vm.newString(text), false];
  }

  /** The functions of the prelude fail only if the instance has no memory, or if the time is up. */
  function stateAfter(called: ReturnType<QuickJSContext['callFunction']>): 'settled' | 'full' {
    return called.error === undefined ? 'settled' : 'full';
  }

  return {
    ask: vm.newFunction('ask', (json, handle) => {
      const each = toRequest(JSON.parse(vm.getString(json)) as FileRequest, handle);
      open.push(each);
      return vm.newNumber(each.number);
    }),
    async next(askWorker, { settle, fail }) {
      const first = open.shift();
      if (first === undefined) return 'none';
      const { number, request, content } = first;
      const answer = await askWorker(request, content);
      const before = refusals();
      if (!Buffer.isBuffer(answer) && answer.answer === 'failed') {
        const words = [answer.code, answer.message].map((text) => vm.newString(text));
        if (refusals() > before) return 'full';
        return stateAfter(vm.callFunction(fail, vm.undefined, vm.newNumber(number), ...words));
      }
      const value = Buffer.isBuffer(answer) ? answer : 'file' in answer ? answer.file : {};
      const [handle, isJson] = toHandle(value, request.status === 'read' ? request.as : 'json');
      if (refusals() > before) return 'full';
      const called = vm.callFunction(settle, vm.undefined, vm.newNumber(number), handle, isJson ? vm.true : vm.false);
      handle.dispose();
      return stateAfter(called);
    },
  };
}
