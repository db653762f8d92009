// Runs an action of the catalogue for each kind of connection, against the imitated services of stand-ins.ts.
import assert from 'node:assert/strict';
import { drawing, linkInRow, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { startTokenProvider, type TokenProvider } from '../../support/token-provider.js';
import { createAccount, type Account } from '../accounts.js';
import { createConnection, signIn } from '../connections/sign-in.js';
import { CREDENTIALS, playServices } from './stand-ins.js';

type Data = Record<string, unknown>;

/** The path on the target at which stand-ins.ts serves each server of the catalogue. */
const SERVERS: Record<string, string> = {
  'https://slack.com/api': '/slack',
  'https://discord.com/api/v10': '/discord',
  'https://api.trello.com': '/trello',
  'https://api.telegram.org/bot': '/telegram/bot',
  'https://api.twilio.com': '/twilio',
  'https://sheets.googleapis.com': '/sheets',
  'https://graph.microsoft.com/v1.0': '/graph',
};

describe('actions of the catalogue', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let target: HttpTarget;
  let provider: TokenProvider;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    [account, target, provider] = await Promise.all([createAccount(stack), startHttpTarget(), startTokenProvider()]);
    project = await account.api.createProject();
    playServices(target, (token) => provider.isValid(token));
  });
  after(() => Promise.all([target.close(), provider.close()]));

  const connect = (name: string, body: object): Promise<number> =>
    createConnection(account, project, { name, origins: [target.url], ...body });

  const act = (service: string, id: string, connection: number, values: Data): DrawingNode =>
    node('http', { action: { service, id }, values, connection });

  /** Runs the nodes in a row. The stored servers of their actions are first replaced by the imitated ones. */
  async function run(...nodes: DrawingNode[]) {
    const { api } = account;
    const workflowId = await api.createWorkflow(project, drawing(linkInRow([trigger(), ...nodes])));
    for (const [server, at] of Object.entries(SERVERS)) {
      await queryDatabase(
        stack,
        `UPDATE workflows SET document = replace(document::text, $2::text, $3::text)::json WHERE id = $1`,
        [workflowId, `"${server}"`, `"${target.url}${at}"`],
      );
    }
    const started = await api.run(workflowId);
    assert.equal(started.status, 201, JSON.stringify(started));
    const { data } = await api.pollToEnd(started.data.id);
    const text = JSON.stringify(data);
    for (const secret of [CREDENTIALS.slack, ...CREDENTIALS.trello, CREDENTIALS.telegram, ...provider.issued]) {
      assert.ok(!text.includes(secret), text);
    }
    return { status: data.status, nodes: data.data! };
  }

  const contentOf = ({ nodes }: Awaited<ReturnType<typeof run>>, { id }: DrawingNode): Data => {
    const { content } = nodes[id]!.result as { content: unknown };
    return (typeof content === 'string' ? JSON.parse(content) : content) as Data;
  };

  it('with a bearer token: Slack posts a message, and what it refuses with status 200 can be told', async () => {
    const connection = await connect('Slack', { kind: 'bearer', secrets: { token: CREDENTIALS.slack } });
    const post = act('slack', 'chat.postMessage', connection, { channel: 'C1', text: 'Hello *all*' });
    const lost = act('slack', 'chat.postMessage', connection, { channel: 'C9', text: 'Hello' });
    const ended = await run(post, lost);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    const [sent] = target.requestsTo('/slack/chat.postMessage');
    assert.deepEqual(
      [sent!.method, sent!.headers['content-type'], JSON.parse(sent!.body)],
      ['POST', 'application/json', { channel: 'C1', text: 'Hello *all*' }],
    );
    assert.deepEqual([contentOf(ended, post)['ok'], contentOf(ended, post)['ts']], [true, '1764400000.000100']);
    assert.deepEqual(contentOf(ended, lost), { ok: false, error: 'channel_not_found' });
  });

  it('wait as long as a limit says, and read the next page by the cursor of the last one', async () => {
    const connection = await connect('Slack lists', { kind: 'bearer', secrets: { token: CREDENTIALS.slack } });
    const first = act('slack', 'conversations.list', connection, { limit: 1, exclude_archived: true, cursor: '' });
    const second = act('slack', 'conversations.list', connection, {
      limit: 1,
      cursor: `{{ ${first.id}.result.json.response_metadata.next_cursor }}`,
    });
    const ended = await run(first, second);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    const sent = target.requestsTo('/slack/conversations.list');
    assert.deepEqual(
      sent.map(({ query }) => query),
      [
        { limit: '1', exclude_archived: 'true' },
        { limit: '1', exclude_archived: 'true' },
        { limit: '1', cursor: 'dGVhbTpDMQ==' },
      ],
    );
    assert.ok(sent[1]!.receivedAt - sent[0]!.receivedAt >= 1_000);
    assert.deepEqual(
      [contentOf(ended, first)['channels'], contentOf(ended, second)['channels']],
      [[{ id: 'C1' }], [{ id: 'C2' }]],
    );
  });

  it('with a header: Discord sends a message, and deletes it with an answer that has no body', async () => {
    const secret = { name: 'Authorization' };
    const connection = await connect('Discord', {
      kind: 'header',
      settings: secret,
      secrets: { value: CREDENTIALS.discord },
    });
    const post = act('discord', 'create_message', connection, { channel_id: '77', content: 'Hi' });
    const remove = act('discord', 'delete_message', connection, {
      channel_id: '77',
      message_id: `{{ ${post.id}.result.json.id }}`,
    });
    const ended = await run(post, remove);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    assert.deepEqual(JSON.parse(target.requestsTo('/discord/channels/77/messages')[0]!.body), { content: 'Hi' });
    assert.deepEqual(
      target.requestsTo('/discord/channels/77/messages/9001').map(({ method, body }) => [method, body]),
      [['DELETE', '']],
    );
  });

  it('with parameters of the query: Trello makes a card, and its refusals in plain text are told', async () => {
    const connection = await connect('Trello', {
      kind: 'query',
      settings: { names: ['key', 'token'] },
      secrets: { values: CREDENTIALS.trello },
    });
    const make = act('trello', 'create_card', connection, { idList: 'L1', name: 'A & B', idLabels: ['a', 'b'] });
    const refused = act('trello', 'create_card', connection, { idList: 'L9', name: 'C' });
    const ended = await run(make, refused);
    const [sent] = target.requestsTo('/trello/1/cards');
    assert.deepEqual([sent!.method, sent!.query['name'], sent!.body], ['POST', 'A & B', '']);
    assert.equal(contentOf(ended, make)['idLabels'], 'a,b');
    assert.deepEqual(
      [ended.nodes[refused.id]!.error?.code, ended.nodes[refused.id]!.error?.message],
      ['http_status', 'The server answered with status 400: invalid value for idList'],
    );
    assert.equal(target.requestsTo('/trello/1/cards').length, 2);
  });

  it('with a part of the path: Telegram sends a message, and says why it does not', async () => {
    const connection = await connect('Telegram', {
      kind: 'path',
      settings: { prefix: '/telegram/bot' },
      secrets: { value: CREDENTIALS.telegram },
    });
    const send = act('telegram', 'sendMessage', connection, { chat_id: 42, text: 'Hi <b>', parse_mode: '' });
    const refused = act('telegram', 'sendMessage', connection, { chat_id: 'nobody', text: 'Hi' });
    const ended = await run(send, refused);
    const [sent] = target.requestsTo(`/telegram/bot${CREDENTIALS.telegram}/sendMessage`);
    assert.deepEqual([sent!.method, JSON.parse(sent!.body)], ['POST', { chat_id: 42, text: 'Hi <b>' }]);
    assert.deepEqual((contentOf(ended, send)['result'] as Data)['message_id'], 7);
    assert.match(ended.nodes[refused.id]!.error!.message, /status 400: .*chat not found/);
  });

  it('with a user name and password: Twilio takes a form, in which a list repeats its name', async () => {
    const { username, password } = CREDENTIALS.twilio;
    const connection = await connect('Twilio', { kind: 'basic', settings: { username }, secrets: { password } });
    const send = act('twilio', 'CreateMessage', connection, {
      AccountSid: 'AC1',
      To: '+491701234567',
      Body: 'Fish & chips',
      MediaUrl: ['https://example.com/a.png', 'https://example.com/b.png'],
    });
    const ended = await run(send);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    assert.deepEqual(contentOf(ended, send), { sid: 'SM1', to: '+491701234567', body: 'Fish & chips', num_media: '2' });
  });

  it('with a sign-in: Google Sheets appends rows once, with a new token when the old one has expired', async () => {
    const connection = await connect('Google', {
      kind: 'oauth2',
      settings: provider.settings,
      secrets: { client_secret: provider.clientSecret },
    });
    await signIn(stack, account, { projectId: project, id: connection });
    provider.expireTokens();
    const values = [
      ['a', 1],
      ['b', 2],
    ];
    const append = act('google-sheets', 'spreadsheets.values.append', connection, {
      spreadsheetId: 'S1',
      range: 'Sheet1!A1:B2',
      valueInputOption: 'RAW',
      values,
    });
    const ended = await run(append);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    assert.equal((contentOf(ended, append)['updates'] as Data)['updatedRows'], 2);
    const sent = target.requestsTo('/sheets/v4/spreadsheets/S1/values/Sheet1%21A1%3AB2:append');
    assert.deepEqual(
      sent.map(({ body }) => JSON.parse(body) as unknown),
      [{ values }, { values }],
    );
    assert.equal(provider.refreshes, 1);
  });

  it('with credentials of a client: Microsoft Graph takes a mail without a word, and lists in pages', async () => {
    const connection = await connect('Graph', {
      kind: 'oauth2_client_credentials',
      settings: { token_url: `${provider.url}/token`, client_id: 'workflow-service' },
      secrets: { client_secret: provider.clientSecret },
    });
    const message = { subject: 'Hi', toRecipients: [{ emailAddress: { address: 'ada@example.com' } }] };
    const mail = act('microsoft-graph', 'send_mail', connection, { message, saveToSentItems: false });
    const list = act('microsoft-graph', 'list_messages', connection, { $top: 1 });
    const next = node('http', {
      url: `{{ ${list.id}.result.json["@odata.nextLink"] }}`,
      method: 'GET',
      connection,
    });
    const ended = await run(mail, list, next);
    assert.equal(ended.status, 'succeed', JSON.stringify(ended.nodes));
    assert.deepEqual(JSON.parse(target.requestsTo('/graph/me/sendMail')[0]!.body), { message, saveToSentItems: false });
    assert.deepEqual(target.requestsTo('/graph/me/messages')[0]!.query, { $top: '1' });
    assert.deepEqual(contentOf(ended, next)['value'], [{ id: 'M1' }]);
  });
});
