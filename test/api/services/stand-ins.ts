// Imitates services of the catalogue as their references describe them, with behaviour that callers may not expect:
// refusals with status 200, limits with Retry-After, lists in pages, answers without a body.
import type { HttpTarget, TargetReply, TargetRequest } from '../../../harness/target/http-target.js';

/** Each service accepts one credential. */
export const CREDENTIALS = {
  slack: 'xoxb-1-canary',
  discord: 'Bot discord-canary',
  trello: ['trello-key-canary', 'trello-token-canary'],
  telegram: '123456:telegram-canary',
  twilio: { username: 'AC1', password: 'twilio-canary' },
} as const;

const json = (status: number, body: object, headers: Record<string, string> = {}): TargetReply => ({
  status,
  body,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

/** Serves the imitated services on the target. `isToken` returns whether an OAuth access token is valid. */
export function playServices(target: HttpTarget, isToken: (token: string) => boolean): void {
  playSlack(target);
  playDiscord(target);
  playTrello(target);
  playTelegram(target);
  playTwilio(target);
  const authorized = (answer: (request: TargetRequest) => TargetReply) => (request: TargetRequest) =>
    isToken((request.headers.authorization ?? '').replace(/^Bearer /, ''))
      ? answer(request)
      : json(401, { error: { code: 401, status: 'UNAUTHENTICATED', message: 'Request had invalid credentials.' } });
  playSheets(target, authorized);
  playGraph(target, authorized);
}

/** Slack refuses requests with status 200, except when its rate limit is exceeded. */
function playSlack(target: HttpTarget): void {
  const answer = (request: TargetRequest, work: () => TargetReply): TargetReply => {
    const { authorization } = request.headers;
    if (authorization === undefined) return json(200, { ok: false, error: 'not_authed' });
    if (authorization !== `Bearer ${CREDENTIALS.slack}`) return json(200, { ok: false, error: 'invalid_auth' });
    return work();
  };
  target.on('/slack/chat.postMessage', (request) =>
    answer(request, () => {
      const given = JSON.parse(request.body) as { channel?: string; text?: string };
      if (given.channel !== 'C1') return json(200, { ok: false, error: 'channel_not_found' });
      if (given.text === undefined) return json(200, { ok: false, error: 'no_text' });
      return json(200, { ok: true, channel: 'C1', ts: '1764400000.000100', message: { text: given.text } });
    }),
  );
  let calls = 0;
  target.on('/slack/conversations.list', (request) =>
    answer(request, () => {
      calls += 1;
      if (calls === 1) return json(429, { ok: false, error: 'ratelimited' }, { 'retry-after': '1' });
      const isSecond = request.query['cursor'] === 'dGVhbTpDMQ==';
      const channels = [{ id: isSecond ? 'C2' : 'C1' }];
      return json(200, { ok: true, channels, response_metadata: { next_cursor: isSecond ? '' : 'dGVhbTpDMQ==' } });
    }),
  );
}

function playDiscord(target: HttpTarget): void {
  const isKnown = ({ headers }: TargetRequest): boolean => headers.authorization === CREDENTIALS.discord;
  const unauthorized = json(401, { message: '401: Unauthorized', code: 0 });
  target.on('/discord/channels/77/messages', (request) => {
    if (!isKnown(request)) return unauthorized;
    const { content } = JSON.parse(request.body) as { content?: string };
    if (content === undefined) return json(400, { message: 'Cannot send an empty message', code: 50006 });
    return json(200, { id: '9001', channel_id: '77', content });
  });
  target.on('/discord/channels/77/messages/9001', (request) => (isKnown(request) ? { status: 204 } : unauthorized));
}

/** Trello refuses requests with plain text. */
function playTrello(target: HttpTarget): void {
  target.on('/trello/1/cards', ({ method, query }) => {
    const [key, token] = CREDENTIALS.trello;
    if (query['key'] !== key || query['token'] !== token) return { status: 401, body: 'invalid key' };
    if (method !== 'POST') return { status: 404, body: 'Cannot GET /1/cards' };
    if (query['idList'] !== 'L1') return { status: 400, body: 'invalid value for idList' };
    return json(200, { id: 'K1', name: query['name'], idList: 'L1', idLabels: query['idLabels'] });
  });
}

function playTelegram(target: HttpTarget): void {
  target.on(`/telegram/bot${CREDENTIALS.telegram}/sendMessage`, ({ method, body }) => {
    if (method !== 'POST') return json(404, { ok: false, error_code: 404, description: 'Not Found' });
    const given = JSON.parse(body) as { chat_id?: unknown; text?: string };
    if (given.chat_id !== 42)
      return json(400, { ok: false, error_code: 400, description: 'Bad Request: chat not found' });
    return json(200, { ok: true, result: { message_id: 7, chat: { id: 42 }, text: given.text } });
  });
}

function playTwilio(target: HttpTarget): void {
  const { username, password } = CREDENTIALS.twilio;
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  target.on('/twilio/2010-04-01/Accounts/AC1/Messages.json', ({ headers, body }) => {
    if (headers.authorization !== expected) return json(401, { code: 20003, message: 'Authenticate', status: 401 });
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return json(415, { status: 415 });
    const form = new URLSearchParams(body);
    if (form.get('Body') === null) return json(400, { code: 21602, message: 'Message body is required.', status: 400 });
    const media = form.getAll('MediaUrl');
    return json(201, { sid: 'SM1', to: form.get('To'), body: form.get('Body'), num_media: String(media.length) });
  });
}

type Authorized = (answer: (request: TargetRequest) => TargetReply) => (request: TargetRequest) => TargetReply;

function playSheets(target: HttpTarget, authorized: Authorized): void {
  target.on(
    '/sheets/v4/spreadsheets/S1/values/Sheet1%21A1%3AB2:append',
    authorized(({ query, body }) => {
      if (query['valueInputOption'] !== 'RAW') {
        return json(400, {
          error: { code: 400, message: "'valueInputOption' is required", status: 'INVALID_ARGUMENT' },
        });
      }
      const { values } = JSON.parse(body) as { values: unknown[][] };
      return json(200, { spreadsheetId: 'S1', updates: { updatedRows: values.length, updatedRange: 'Sheet1!A1:B1' } });
    }),
  );
}

function playGraph(target: HttpTarget, authorized: Authorized): void {
  target.on(
    '/graph/me/sendMail',
    authorized(() => ({ status: 202 })),
  );
  target.on(
    '/graph/me/messages',
    authorized(({ query }) => {
      const skip = Number(query['$skip'] ?? 0);
      const next = `${target.url}/graph/me/messages?$top=1&$skip=${skip + 1}`;
      return json(200, { value: [{ id: `M${skip}` }], ...(skip < 1 && { '@odata.nextLink': next }) });
    }),
  );
}
