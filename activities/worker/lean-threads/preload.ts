// Runs in each thread for workflow code before the SDK is loaded (lean-threads.ts).
import v8, { type PromiseHooks } from 'node:v8';
import vm, { type Context, type RunningScriptOptions } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  stopPromiseTraces();
  stopWatchdogs();
}

/**
 * Replaces only the object that the SDK sees, because Node.js needs the original for AsyncLocalStorage. The SDK catches
 * the error and works without stack traces.
 */
function stopPromiseTraces(): void {
  const promiseHooks: PromiseHooks = {
    ...v8.promiseHooks,
    createHook() {
      throw new Error('promises are not traced');
    },
  };
  Object.defineProperty(v8, 'promiseHooks', { value: promiseHooks });
}

/** Removes the time limit, for which Node.js would start a thread at each call into a context. */
function stopWatchdogs(): void {
  const script = vm.Script.prototype;
  const runInContext = Reflect.get(script, 'runInContext') as (
    this: vm.Script,
    context: Context,
    options: RunningScriptOptions,
  ) => unknown;
  script.runInContext = function (context, { timeout: _timeout, ...options } = {}) {
    return runInContext.call(this, context, options);
  };
}
