// A stack that does a little of everything, so that each of its metrics has a value.
import assert from 'node:assert/strict';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, drawing, fanOut, http, link, llm, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { createHook } from '../api/webhook-receiver.js';

export interface ObservedStack {
  stack: TestStack;
  /** Host and port of the worker's metrics. */
  workerAddress: string;
  /**
   * Starts runs that succeed, fail, have a node retried or are cancelled, and one that is refused. A receiver accepts
   * their webhooks.
   */
  work: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function startObservedStack(): Promise<ObservedStack> {
  const [stack, target] = await Promise.all([startStack({ env: { WEBHOOK_RETRY_SCHEDULE: '0' } }), startHttpTarget()]);
  const port = await eventually(() => /"port":(\d+),[^\n]*"worker started"/.exec(stack.logs())?.[1]);
  return {
    stack,
    workerAddress: `127.0.0.1:${port}`,
    work: () => work(stack, target),
    async stop() {
      await stack.stop();
      await target.close();
    },
  };
}

async function work(stack: TestStack, target: HttpTarget): Promise<void> {
  const api = createApiClient(stack.apiUrl, stack.apiKey);
  const { projectId } = await createHook(api, target);
  const start = async (data: Parameters<typeof api.createWorkflow>[1]): Promise<string> =>
    (await api.run(await api.createWorkflow(projectId, data))).data.id;
  const end = async (data: Parameters<typeof api.createWorkflow>[1]): Promise<string> =>
    (await api.pollToEnd(await start(data))).data.status;

  assert.equal(await end(fanOut(3, () => llm('hello'))), 'succeed');
  assert.equal(await end(chain(2, () => http(`${target.url}/status/404`))), 'failed');
  const flaky = `/flaky-${Math.random()}`;
  target.on(flaky, [{ status: 503 }, { body: 'ok' }]);
  assert.equal(await end(chain(2, () => http(`${target.url}${flaky}`))), 'succeed');
  const [begin, slow] = [trigger(), http(`${target.url}/delay/30000`)];
  link(begin, slow);
  const cancelled = await api.createWorkflow(projectId, drawing([begin, slow]));
  const { id } = (await api.run(cancelled)).data;
  await eventually(async () => (await api.poll(id)).data.data?.[slow.id] !== undefined);
  assert.equal((await api.post(`/workflows/${cancelled}/history/${id}/cancel/`)).status, 200);
  assert.equal(
    (
      await api.run(
        await api.createWorkflow(
          projectId,
          chain(2, () => llm('')),
        ),
      )
    ).status,
    422,
  );
  assert.equal((await api.get('/workflows/999999/')).status, 404);
}
