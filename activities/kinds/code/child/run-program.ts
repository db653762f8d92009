// Runs one program in an instance of QuickJS that exists for this program only.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { findErrorLine } from './error-line.js';
import { createFileRequests, type AskTimed, type AskWorker, type FileRequests } from './file-requests.js';
import { createLibraries } from './libraries.js';
import { createLog, type Log } from './log.js';
import {
  MAX_LOG_BYTES,
  MAX_MESSAGE_CHARACTERS,
  MAX_OUTPUT_BYTES,
  MEMORY_BYTES,
  type Program,
  type Reply,
} from './messages.js';
import { CODE_FILE, PRELUDE } from './prelude.js';

// The types of Node.js do not declare WebAssembly as a value, and those of the package describe its CommonJS form.
const { compile, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyParts }).WebAssembly;
const syncVariant = variant as unknown as QuickJSSyncVariant;

/** A `WebAssembly.Module`. */
type CompiledModule = object;

interface WebAssemblyParts {
  compile: (bytes: Buffer) => Promise<CompiledModule>;
  Memory: new (pages: { initial: number; maximum: number }) => object;
}

interface Instance {
  runtime: QuickJSRuntime;
  /** Returns how often the program was refused memory. */
  refusals: () => number;
}

interface Execution {
  program: Program;
  askWorker: AskTimed;
  checkTime: () => boolean;
}

const PAGE_BYTES = 64 * 1024;
const STACK_BYTES = 256 * 1024;
/** The time is checked after this many promise jobs. */
const JOBS_AT_ONCE = 1_000;
/** The longest text that is read from the instance: an output in which every digit is a marked BigInt. */
const MAX_TEXT_CHARACTERS = 16 * MAX_OUTPUT_BYTES;

/** Compiles QuickJS. Call this once per process. */
export async function loadQuickJs(): Promise<CompiledModule> {
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm');
  return compile(readFileSync(file));
}

/**
 * Returns how the program ended. Does not return while the program runs, even if its time is up and QuickJS has not
 * interrupted it; the worker then kills the process.
 */
export async function runProgram(quickJs: CompiledModule, program: Program, askWorker: AskWorker): Promise<Reply> {
  const instance = await createInstance(quickJs);
  // Processor time is measured, because on a busy machine the process may get no processor for seconds.
  const [startedAt, startedCpu] = [performance.now(), process.cpuUsage()];
  let waitedMs = 0;
  let pausedMs = 0;
  const hasSpent = (timeoutMs: number): boolean => {
    if (performance.now() - startedAt < timeoutMs) return false;
    const { user, system } = process.cpuUsage(startedCpu);
    return (user + system) / 1000 + waitedMs - pausedMs >= timeoutMs;
  };
  let isLate = false;
  const checkTime = (): boolean => (isLate ||= hasSpent(program.timeoutMs));
  const timedAsk: AskTimed = async (request, content) => {
    const askedAt = performance.now();
    try {
      return await askWorker(request, content, (ms) => (pausedMs = ms));
    } finally {
      waitedMs += performance.now() - askedAt;
    }
  };
  instance.runtime.setInterruptHandler(checkTime);
  try {
    const reply = await execute(instance, { program, askWorker: timedAsk, checkTime });
    // The code may have caught the interruption and continued.
    return isLate ? { status: 'timeout' } : reply;
  } catch (error) {
    return isLate ? { status: 'timeout' } : toCrash(error);
  }
}

/** The memory has its full size from the start, because unused pages take no memory of the machine. */
async function createInstance(wasmModule: CompiledModule): Promise<Instance> {
  const pages = MEMORY_BYTES / PAGE_BYTES;
  let refusals = 0;
  const wasmMemory = Object.assign(new Memory({ initial: pages, maximum: pages }), {
    // QuickJS tries to grow the memory when all of it is in use.
    grow(): never {
      refusals += 1;
      throw new RangeError('The memory does not grow.');
    },
  });
  const quickJs = await newQuickJSWASMModuleFromVariant(newVariant(syncVariant, { wasmModule, wasmMemory }));
  return { runtime: quickJs.newRuntime({ maxStackSizeBytes: STACK_BYTES }), refusals: () => refusals };
}

/** Disposes of nothing, because the instance is dropped as a whole. */
async function execute({ runtime, refusals }: Instance, execution: Execution): Promise<Reply> {
  const { program, askWorker, checkTime } = execution;
  const vm = runtime.newContext();
  const log = createLog(MAX_LOG_BYTES);
  const files = createFileRequests(vm, refusals, program.marker);
  const { run, describe, ...settling } = startPrelude(vm, { marker: program.marker, log, files });
  const toEnd = (text: QuickJSHandle): Reply => {
    return toReply(readText(vm, text), { program, log, wasFull: refusals() > 0 });
  };
  const toFailure = (thrown: QuickJSHandle): Reply => {
    const described = vm.callFunction(describe, vm.undefined, thrown);
    return described.error === undefined ? toEnd(described.value) : { status: 'memory' };
  };
  const inputs = vm.newString(program.inputs);
  // The wrapper keeps the line numbers of the code. The closing `})` is on a line of its own, because a `//` comment at
  // the end of the code would hide it.
  const compiled = vm.evalCode(`(async function (inputs) { 'use strict'; ${program.code}\n})`, CODE_FILE, {
    type: 'global',
  });
  if (compiled.error !== undefined) return toFailure(compiled.error);
  const running = vm.callFunction(run, vm.undefined, compiled.value, inputs, program.hasMarks ? vm.true : vm.false);
  if (running.error !== undefined) return toFailure(running.error);
  for (;;) {
    const state = vm.getPromiseState(running.value);
    if (state.type === 'fulfilled') return toEnd(state.value);
    if (state.type === 'rejected') return toFailure(state.error);
    if (checkTime()) return { status: 'timeout' };
    const jobs = runtime.executePendingJobs(JOBS_AT_ONCE);
    if (jobs.error !== undefined) return toFailure(jobs.error);
    if (jobs.value > 0) continue;
    const next = await files.next(askWorker, settling);
    if (next === 'none') return { status: 'failed', message: WAITS_FOREVER, line: null };
    if (next === 'full') return { status: 'memory' };
  }
}

const WAITS_FOREVER = 'The code waits for a promise that nothing settles.';

interface Outside {
  marker: string;
  log: Log;
  files: FileRequests;
}

function startPrelude(vm: QuickJSContext, { marker, log, files }: Outside) {
  const hostLog = vm.newFunction('log', (json) => {
    const line: unknown = JSON.parse(readText(vm, json));
    if (typeof line === 'string') log.add(line);
  });
  const libraries = createLibraries(vm, (handle) => readText(vm, handle));
  const limits = [MAX_OUTPUT_BYTES, MAX_LOG_BYTES, MAX_MESSAGE_CHARACTERS].map((limit) => vm.newNumber(limit));
  const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, 'prelude.js', { type: 'global' }));
  const parts = vm.unwrapResult(
    vm.callFunction(
      prelude,
      vm.undefined,
      hostLog,
      files.ask,
      vm.newString(marker),
      ...limits,
      libraries.source,
      libraries.formatDate,
      libraries.digest,
      libraries.randomHex,
    ),
  );
  const [run, describe, settle, fail] = ['run', 'describe', 'settle', 'fail'].map((name) => vm.getProp(parts, name));
  return { run: run!, describe: describe!, settle: settle!, fail: fail! };
}

/** Code that has obtained a function of the prelude may have called it with anything. */
function readText(vm: QuickJSContext, handle: QuickJSHandle): string {
  if (vm.typeof(handle) !== 'string') return '';
  const length = vm.getNumber(vm.getProp(handle, 'length'));
  return length <= MAX_TEXT_CHARACTERS ? vm.getString(handle) : '';
}

interface Ending {
  json?: unknown;
  marks?: unknown;
  tooLarge?: unknown;
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  code?: unknown;
}

interface Ended {
  program: Program;
  log: Log;
  wasFull: boolean;
}

/** `text`: the JSON text that the prelude returns, empty if there was no memory left for it. */
function toReply(text: string, { program, log, wasFull }: Ended): Reply {
  if (text === '') return { status: 'memory' };
  const { json, marks, tooLarge, name, message, stack, code } = JSON.parse(text) as Ending;
  if (tooLarge === true) return { status: 'too_large' };
  if (typeof json === 'string') {
    const exact = marks === 0 ? json : json.replaceAll(new RegExp(`"${program.marker}(-?\\d+)"`, 'g'), '$1');
    if (Buffer.byteLength(exact) > MAX_OUTPUT_BYTES) return { status: 'too_large' };
    return { status: 'returned', json: exact, logs: log.lines };
  }
  const [type, words] = [String(name), String(message)];
  if (isOutOfMemory(type, words, wasFull)) return { status: 'memory' };
  const line = findErrorLine(String(stack), words, program.code);
  if (typeof code === 'string') return { status: 'failed', message: words, line, code };
  return { status: 'failed', message: type === '' ? words : `${type}: ${words}`, line };
}

/** QuickJS throws null, which has no name, if it has no memory for an error. Code may also throw null. */
function isOutOfMemory(name: string, message: string, wasFull: boolean): boolean {
  return (name === 'InternalError' && message === 'out of memory') || (name === '' && wasFull);
}

/** QuickJS itself has failed: the stack of the process overflowed, or QuickJS did not check an allocation. */
function toCrash(error: unknown): Reply {
  if (error instanceof RangeError) {
    return { status: 'failed', message: 'RangeError: The code calls too many functions in each other.', line: null };
  }
  return { status: 'memory' };
}
