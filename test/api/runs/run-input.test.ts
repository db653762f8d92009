import assert from 'node:assert/strict';
import {
  createApiClient,
  type ApiAnswer,
  type ApiClient,
  type Envelope,
  type SendOptions,
} from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, openSession, type Account } from '../accounts.js';

describe('the body of run, by credential', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let session: ApiClient;
  let workflow: number;
  let token: string;

  before(async () => {
    stack = await sharedStack();
    account = await createAccount(stack);
    ({ session: token } = await openSession(stack, account));
    session = createApiClient(stack.apiUrl, { session: token });
    workflow = await account.api.createWorkflow(await account.api.createProject(), chain(1));
  });

  const start = (client: ApiClient, options: SendOptions): Promise<ApiAnswer<Envelope>> =>
    client.post<Envelope>(`/workflows/${workflow}/run/`, options);

  /** Returns the stored input of the run that the body starts. */
  const inputOf = async (client: ApiClient, options: SendOptions): Promise<unknown> => {
    const { status, body } = await start(client, options);
    assert.deepEqual([status, body.status], [200, 201], JSON.stringify(body));
    const [row] = await queryDatabase<{ input: unknown }>(stack, 'SELECT input FROM runs WHERE id = $1', [
      body.data.id,
    ]);
    return row?.input;
  };

  describe('session token', () => {
    const wrapped: [title: string, options: SendOptions, input: unknown][] = [
      ['an object', { text: '{"input_data":{"a":{"b":[1]}}}' }, { a: { b: [1] } }],
      ['an array', { text: '{"input_data":[1,{"a":2}]}' }, [1, { a: 2 }]],
      ['a text', { text: '{"input_data":"just words"}' }, { __raw_input__: 'just words' }],
      ['a text that looks like JSON', { text: '{"input_data":"{\\"a\\":1}"}' }, { __raw_input__: '{"a":1}' }],
      ['a number', { text: '{"input_data":17}' }, { __raw_input__: '17' }],
      ['null', { text: '{"input_data":null}' }, {}],
      ['nothing', { text: '{}' }, {}],
      ['nothing beside other fields', { text: '{"a":1}' }, {}],
      ['a wrapper in the wrapper', { text: '{"input_data":{"input_data":1}}' }, { input_data: 1 }],
      ['keys of the prototype', { text: '{"input_data":{"__proto__":1}}' }, JSON.parse('{"__proto__":1}')],
    ];
    for (const [title, options, input] of wrapped) {
      it(`input_data of ${title} is the input`, async () => {
        assert.deepEqual(await inputOf(session, options), input);
      });
    }

    it('no body at all is an empty input', async () => {
      assert.deepEqual(await inputOf(session, {}), {});
    });

    const refused: [title: string, options: SendOptions, status: number][] = [
      ['a list', { text: '[{"input_data":{}}]' }, 400],
      ['a text', { text: '"input_data"' }, 400],
      ['null', { text: 'null' }, 400],
      ['broken JSON', { text: '{"input_data":' }, 400],
      ['plain text', { text: 'hello', headers: { 'content-type': 'text/plain' } }, 415],
    ];
    for (const [title, options, expected] of refused) {
      it(`a body that is ${title} is a ${expected}, and starts nothing`, async () => {
        const count = 'SELECT count(*)::integer AS count FROM runs WHERE workflow_id = $1';
        const before = await queryDatabase<{ count: number }>(stack, count, [workflow]);
        assert.equal((await start(session, options)).status, expected);
        assert.deepEqual(await queryDatabase(stack, count, [workflow]), before);
      });
    }
  });

  describe('both credentials', () => {
    it('the session token decides the form', async () => {
      const headers = { authorization: `Bearer ${token}` };
      assert.deepEqual(await inputOf(account.api, { text: '{"input_data":{"a":1}}', headers }), { a: 1 });
      assert.equal((await start(account.api, { text: 'flat text', headers })).status, 400);
    });

    it('a session token that is wrong is refused, and nothing starts by the key', async () => {
      const { status } = await start(account.api, { text: '{}', headers: { authorization: 'Bearer x.y.z' } });
      assert.equal(status, 401);
    });
  });

  describe('API key', () => {
    it('the body is the input: a wrapper is not taken off', async () => {
      assert.deepEqual(await inputOf(account.api, { text: '{"input_data":{"a":1}}' }), { input_data: { a: 1 } });
    });

    it('white space only is an empty input', async () => {
      assert.deepEqual(await inputOf(account.api, { text: ' \n ' }), {});
    });
  });
});
