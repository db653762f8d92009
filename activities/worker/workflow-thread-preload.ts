// Loaded into each thread that runs workflow code before the SDK is (workflow-threads.ts, ADR 13).
import v8, { type PromiseHooks } from 'node:v8';
import vm, { type Context, type RunningScriptOptions } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  // What the SDK sees; Node itself goes on with its own, for AsyncLocalStorage. The SDK goes on without, and says so.
  const promiseHooks: PromiseHooks = {
    ...v8.promiseHooks,
    createHook() {
      throw new Error('promises are not traced');
    },
  };
  Object.defineProperty(v8, 'promiseHooks', { value: promiseHooks });
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
