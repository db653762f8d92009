// Loaded into each thread that runs workflow code before the SDK is (workflow-threads.ts, ADR 13).
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  // The SDK goes on without, and says so: it answers the query for a stack trace with that.
  v8.promiseHooks.createHook = () => {
    throw new Error('promises are not traced');
  };
  const { runInContext } = vm.Script.prototype;
  vm.Script.prototype.runInContext = function (context, { timeout: _timeout, ...options } = {}) {
    return runInContext.call(this, context, options) as unknown;
  };
}
