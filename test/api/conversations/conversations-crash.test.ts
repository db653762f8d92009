import assert from 'node:assert/strict';
import { createApiClient } from '../../../harness/client/api-client.js';
import { drawing, http, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { killAndAwaitRestart } from '../../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { startApiProcess, type ApiProcess } from '../../../harness/stack/api-process.js';
import { converse, createChat, heard, messagesOf, post, type Posted } from './chats.js';

const CONVERSATIONS = 4;
const MESSAGES = 6;

describe('conversations while processes are killed', function () {
  this.timeout(180_000);
  let stack: StartedStack;
  let other: ApiProcess;
  let target: HttpTarget;

  before(async () => {
    [stack, target] = await Promise.all([startStack(), startHttpTarget()]);
    other = await startApiProcess(stack);
  });
  after(async () => {
    await other.stop();
    await target.close();
    await stack.stop();
  });

  /** Sends the message with the same Idempotency-Key to both processes in turn, until it is accepted. */
  function sendUntilTaken(id: string, content: string): Promise<Posted> {
    let tries = 0;
    return eventually(
      async () => {
        const url = tries++ % 2 === 0 ? stack.apiUrl : other.apiUrl;
        const key = { 'idempotency-key': `${id} ${content}` };
        const answer = await post(createApiClient(url, stack.apiKey), id, { content }, key).catch(() => undefined);
        return answer?.status === 201 && answer.body;
      },
      { timeoutMs: 60_000 },
    );
  }

  it('answer each queued message exactly once, in order, with one run at a time', async () => {
    const api = createApiClient(other.apiUrl, stack.apiKey);
    const call = http(`${target.url}/delay/400/{{ input.message }}`);
    const chain = linkInRow([trigger(), call, node('output', { value: '{{ input.messages }}' })]);
    const chat = await createChat(api, await api.createProject(), drawing(chain));
    const ids = await Promise.all(Array.from({ length: CONVERSATIONS }, async () => (await converse(api, chat)).id));
    const sending = Promise.all(
      ids.map(async (id, at) => {
        // The first half of the messages is sent one after the other, the second half at once.
        const texts = Array.from({ length: MESSAGES }, (_, index) => `${at}-${index}`);
        for (const text of texts.slice(0, MESSAGES / 2)) await sendUntilTaken(id, text);
        await Promise.all(texts.slice(MESSAGES / 2).map((text) => sendUntilTaken(id, text)));
      }),
    );
    for (const part of ['api', 'worker', 'api'] as const) {
      const before = target.requests.length;
      await eventually(() => target.requests.length > before + 1, { timeoutMs: 60_000 });
      await killAndAwaitRestart(stack, part);
    }
    await sending;
    const answered = await eventually(
      async () => {
        const all = await Promise.all(ids.map((id) => messagesOf(api, id)));
        return all.every((messages) => messages.length === 2 * MESSAGES) && all;
      },
      { timeoutMs: 120_000 },
    );
    for (const [at, id] of ids.entries()) {
      const asked = await queryDatabase<{ content: string; run_id: string; begun: Date; ended: Date }>(
        stack,
        `SELECT content, run_id, run_started_at AS begun, run_finished_at AS ended
         FROM conversation_messages JOIN runs ON runs.id = run_id WHERE runs.conversation_id = $1 ORDER BY ordinal`,
        [id],
      );
      const texts = asked.map(({ content }) => content);
      assert.deepEqual(
        texts.toSorted(),
        Array.from({ length: MESSAGES }, (_, index) => `${at}-${index}`),
      );
      for (const [index, { run_id: runId, begun }] of asked.entries()) {
        const answers = answered[at]!.filter(({ role, run_id: of }) => role === 'assistant' && of === runId);
        assert.deepEqual(
          answers.map(({ status, error }) => [status, error]),
          [['succeed', null]],
        );
        const before = texts.slice(0, index).flatMap((text) => [text, '(answer)']);
        assert.deepEqual(heard(answers[0]!), [...before, texts[index]]);
        assert.ok(index === 0 || begun >= asked[index - 1]!.ended, `${texts[index]} began before its turn`);
      }
    }
  });
});
