// Calls of the chat proxy whose API process is killed (docs/adr/0020-money-reserved-with-the-claim.md).
import assert from 'node:assert/strict';
import { request } from 'undici';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { PLATFORM_KEY, startRawUpstream, type RawUpstream } from '../../support/raw-upstream.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import type { Page } from '../bodies.js';
import { chatBody } from '../chat-proxy.js';
import { price, type ChatTransaction } from './chat-transactions.js';

describe('a call of the chat proxy whose process is killed', function () {
  this.timeout(150_000);
  let stack: TestStack;
  let upstream: RawUpstream;

  before(async () => {
    [stack, upstream] = await Promise.all([sharedStack(), startRawUpstream(['m'])]);
  });
  after(() => upstream.close());

  it('is charged the reserved amount, by another process', async () => {
    const dying = await startApiProcess(stack, {
      MODEL_PROVIDERS_FILE: upstream.providersFile,
      RAW_PROVIDER_KEY: PLATFORM_KEY,
    });
    let isAsked = false;
    upstream.on('m', () => void (isAsked = true));
    const { api, apiKey } = await createAccount(stack);
    const project = await api.createProject();
    const transactions = async (): Promise<ChatTransaction[]> =>
      (await api.get<Page<ChatTransaction>>(`/billing-history/chat/?size=100&project=${project}`)).body.items;
    const body = chatBody('m', { max_tokens: 30 });
    const lost = request(`${dying.apiUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'x-project-id': String(project),
      },
      body,
    }).catch(() => undefined);
    await eventually(() => isAsked);
    process.kill(dying.pid, 'SIGKILL');
    await lost;
    const open = 'SELECT id FROM chat_calls WHERE project_id = $1 AND reserved_usd IS NOT NULL';
    const [{ id }] = (await queryDatabase<{ id: string }>(stack, open, [project])) as [{ id: string }];
    // Ends the lease now instead of after two minutes.
    const expire = `UPDATE chat_calls SET leased_until = now() - interval '1 second' WHERE id = $1`;
    await queryDatabase(stack, expire, [id]);
    await eventually(async () => (await transactions())[0]?.id === id, { timeoutMs: 90_000 });
    const { is_estimated: isEstimated, status, amount, reason } = (await transactions())[0]!;
    assert.deepEqual(
      [isEstimated, status, Number(amount['USD'])],
      [true, 'Error', price(Math.ceil(body.length / 3), 30)],
    );
    assert.match(reason, /stopped before the cost of the call was known/);
    assert.deepEqual(await queryDatabase(stack, open, [project]), []);
  });
});
