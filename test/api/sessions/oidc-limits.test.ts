// Tests the limits for issuers that never end their answers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOidcClient, ISSUER_TIMEOUT_SECONDS, type OidcClient } from '../../../api/sessions/oidc-client.js';
import type { OidcFlow } from '../../../api/sessions/oidc-flow.js';
import { MOST_BYTES } from '../../../outgoing/fetch-small.js';
import { eventually } from '../../../harness/timing/eventually.js';

const FLOW: OidcFlow = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) };
/** A time-out longer than the tests last, so that only the limit of bytes is reached. */
const LONG_SECONDS = 600;

type Answer = (response: ServerResponse) => void;

describe('an issuer of OpenID Connect', function () {
  this.timeout(120_000);
  let server: Server;
  let issuer: string;
  let answers: Record<string, Answer>;
  let requests: string[];
  let cut: number;

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request.url!);
      response.on('close', () => {
        if (!response.writableFinished) cut += 1;
      });
      (answers[request.url!] ?? ((other) => void other.writeHead(404).end()))(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    answers = { '/.well-known/openid-configuration': json(metadata()) };
    requests = [];
    cut = 0;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const metadata = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
  });
  const json =
    (body: object): Answer =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const silent: Answer = () => undefined;
  /** Sends the head of the answer, then nothing. */
  const stalls: Answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  const large: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"padding":"${'x'.repeat(MOST_BYTES)}`);
  };

  const clientOf = (timeoutSeconds?: number): OidcClient => {
    const settings = { issuer, clientId: 'us', clientSecret: 's', name: 'Example', createUsers: false };
    return createOidcClient(settings, 'http://workflows.example', timeoutSeconds);
  };
  const identify = (client: OidcClient) => client.identify(FLOW, { code: 'x', state: FLOW.state, iss: issuer });

  it('has five seconds for each answer, its head and its body, at the discovery and at the tokens', async () => {
    assert.equal(ISSUER_TIMEOUT_SECONDS, 5);
    for (const slow of [silent, stalls]) {
      answers['/.well-known/openid-configuration'] = slow;
      await assert.rejects(clientOf(0.5).authorizationUrl(FLOW));
    }
    await eventually(() => cut === 2);
    for (const slow of [silent, stalls]) {
      answers = { '/.well-known/openid-configuration': json(metadata()), '/token': slow };
      const client = clientOf(0.5);
      // On a busy machine the discovery may time out, so repeat it.
      await eventually(() => client.authorizationUrl(FLOW));
      const before = cut;
      await assert.rejects(identify(client));
      await eventually(() => cut === before + 1);
    }
    assert.equal(requests.filter((path) => path === '/token').length, 2);
  });

  it('has 256 KiB for each answer, at the discovery and at the tokens', async () => {
    const tooLarge = (error: Error): boolean => /larger than 262144 bytes/.test(`${error} ${String(error.cause)}`);
    answers['/.well-known/openid-configuration'] = large;
    await assert.rejects(clientOf(LONG_SECONDS).authorizationUrl(FLOW), tooLarge);
    answers = { '/.well-known/openid-configuration': json(metadata()), '/token': large };
    await assert.rejects(identify(clientOf(LONG_SECONDS)), tooLarge);
    await eventually(() => cut === 2);
  });
});
