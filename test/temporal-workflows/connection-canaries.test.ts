import assert from 'node:assert/strict';
import { createAccount, openSession, type Account } from '../api/accounts.js';
import { createConnection, readConnection } from '../api/connections/sign-in.js';
import { createHook } from '../api/webhook-receiver.js';
import { createApiClient, type ApiAnswer, type Envelope } from '../../harness/client/api-client.js';
import { createCanary, echoesOf, findCanaries, readFiles, watch, type Canary } from '../support/canary.js';
import { eventually } from '../../harness/timing/eventually.js';
import { sendJson, startFakeMcpServer, type FakeMcpServer, type McpHandler } from '../support/fake-mcp-server.js';
import { agent, drawing, http, link, linkInRow, mcp, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget, type TargetRequest } from '../../harness/target/http-target.js';
import { historyOf, queryDatabase, toText, withTemporal } from '../support/inspect.js';
import { startMcpAuthServer, type McpAuthServer } from '../support/mcp-auth-server.js';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';

const asWord = (core: string): string => `sk-${core}`;

describe('canaries in connections', function () {
  this.timeout(300_000);
  const made = {
    header: createCanary('header', asWord),
    second: createCanary('second header', asWord),
    query: createCanary('query'),
    path: createCanary('path', asWord),
    basic: createCanary('password'),
    bearer: createCanary('bearer', asWord),
    mcpQuery: createCanary('query of an MCP server'),
    mcpPath: createCanary('path of an MCP server', asWord),
    mcpClient: createCanary('client secret of MCP', asWord),
  };
  const secrets: Canary[] = Object.values(made);
  let stack: StartedStack;
  let account: Account;
  let projectId: number;
  let hookPath: string;
  let [target, other]: HttpTarget[] = [];
  let provider: TokenProvider;
  let guarded: McpAuthServer;
  let servers: FakeMcpServer;
  let receiver: OtlpReceiver;
  const answers: [place: string, answer: unknown][] = [];

  before(async () => {
    [target, other, provider, guarded, servers, receiver] = await Promise.all([
      startHttpTarget(),
      startHttpTarget(),
      startTokenProvider(),
      startMcpAuthServer(),
      startFakeMcpServer(),
      startOtlpReceiver(),
    ]);
    stack = await startStack({
      env: { LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '200' },
    });
    account = await createAccount(stack);
    const hook = await createHook(account.api, target);
    [projectId, hookPath] = [hook.projectId, hook.path];
    secrets.push(watch('client secret', provider.clientSecret));
  });
  after(async () => {
    await Promise.all([target, other, provider, guarded, servers, receiver].map((each) => each!.close()));
    await stack.stop();
  });

  function assertClean(place: string, content: unknown): void {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    assert.deepEqual(findCanaries(text, secrets), [], place);
  }

  async function ask<T>(place: string, asking: Promise<ApiAnswer<T>>): Promise<T> {
    const { body, headers, status } = await asking;
    assert.ok(status < 300 || place.startsWith('refused'), `${place}: ${status} ${JSON.stringify(body)}`);
    answers.push([place, [body, [...headers]]]);
    return body;
  }

  const connect = (name: string, body: object): Promise<number> =>
    createConnection(account, projectId, { name, origins: [target!.url], ...body });

  /** Signs in, and adds every secret of the sign-in to the canaries. */
  async function signIn(id: number): Promise<void> {
    const session = createApiClient(stack.apiUrl, await openSession(stack, account));
    const begun = await session.post<{ url: string }>(`/projects/${projectId}/connections/${id}/authorize/`);
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    const [cookie = ''] = begun.headers.get('set-cookie')!.split(';');
    const page = await fetch(begun.body.url, { redirect: 'manual' });
    const back = new URL(page.headers.get('location')!);
    const end = await fetch(`${stack.apiUrl}${back.pathname}${back.search}`, {
      redirect: 'manual',
      headers: { cookie },
    });
    answers.push(['the end of a sign-in', [end.headers.get('location'), [...end.headers]]]);
    assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    for (const name of ['state', 'code']) secrets.push(watch(name, back.searchParams.get(name)!));
    secrets.push(watch('cookie', cookie.split('=')[1]!));
  }

  async function everyKind(): Promise<Record<string, number>> {
    const url = target!.url;
    const token = { token_url: `${provider.url}/token` };
    const ids = {
      header: await connect('header', {
        kind: 'header',
        settings: { names: ['X-Api-Key', 'Authorization'] },
        secrets: { values: [made.header.value, `Token ${made.second.value}`] },
      }),
      query: await connect('query', {
        kind: 'query',
        settings: { name: 'key' },
        secrets: { value: made.query.value },
      }),
      path: await connect('path', {
        kind: 'path',
        settings: { prefix: '/bot' },
        secrets: { value: made.path.value },
      }),
      basic: await connect('basic', {
        kind: 'basic',
        settings: { username: 'ada' },
        secrets: { password: made.basic.value },
      }),
      bearer: await connect('bearer', { kind: 'bearer', secrets: { token: made.bearer.value } }),
      machine: await connect('machine', {
        kind: 'oauth2_client_credentials',
        origins: [url, provider.url],
        settings: { ...token, client_id: 'machine' },
        secrets: { client_secret: provider.clientSecret },
      }),
      oauth: await connect('oauth', {
        kind: 'oauth2',
        origins: [url, provider.url],
        settings: provider.settings,
        secrets: { client_secret: provider.clientSecret },
      }),
      mcp: await connect('mcp', {
        kind: 'mcp_oauth',
        origins: [guarded.origin, url],
        settings: { server_url: guarded.url, client_id: 'known' },
        secrets: { client_secret: made.mcpClient.value },
      }),
    };
    await signIn(ids.oauth);
    await signIn(ids.mcp);
    return ids;
  }

  /** Returns all values of a request in every encoding, and the decoded value of basic authorization. */
  function echo({ path, query, headers, body }: TargetRequest): object {
    const values = Object.values(headers).map((value) => String(value).replace(/^(?:Bearer|Basic|Token) /, ''));
    const decoded = values.map((value) => Buffer.from(value, 'base64').toString());
    // The `said` of a redirect is not encoded again, because no masker finds a threefold encoding.
    const { said: _said, ...given } = query;
    const secret = [...values, ...decoded, ...Object.values(given), ...path.split(/\/(?:bot)?/)];
    return { path, query, headers, body, echoes: secret.filter((value) => value.length > 8).map(echoesOf) };
  }

  /**
   * Each kind of connection is used successfully, refused, and redirected to another host, which receives the values of
   * the first one.
   */
  function drawKinds(ids: Record<string, number>, settings: object) {
    const begin = trigger();
    const nodes = Object.entries(ids).flatMap(([kind, connection]) => {
      const at = `${target!.url}/bot`;
      const good = http(`${at}/echo`, { connection, method: 'POST', body: { kind } });
      const later = http(`${other!.url}/later`, {
        method: 'POST',
        body: { said: resultOf(good), all: `{{ ${good.id}.result.json }}` },
      });
      const refused = http(`${at}/refuse`, { connection, on_error: 'continue' });
      const led = http(`${at}/lead`, { connection, on_error: 'continue' });
      const hosted = http(`${at}/host`, { connection, on_error: 'continue' });
      const inside = http(`${at}/inside`, { connection });
      const elsewhere = http(`${other!.url}/elsewhere`, { connection, on_error: 'continue' });
      link(begin, good);
      return linkInRow([good, later, refused, led, hosted, inside, elsewhere]);
    });
    return { ...drawing([begin, ...nodes]), settings };
  }

  function routeTarget(): void {
    const route = (request: TargetRequest) => {
      const last = request.path.split('/').at(-1);
      const said = encodeURIComponent(JSON.stringify([request.headers, request.query, request.path])).slice(0, 4_000);
      const word = /sk-[\da-f]{24}/.exec(JSON.stringify(request))?.[0] ?? 'none';
      if (last === 'refuse') return { status: 400, body: echo(request) };
      if (last === 'lead') return { status: 307, headers: { location: `${other!.url}/taken?said=${said}` } };
      if (last === 'host') return { status: 302, headers: { location: `https://${word}.example.com/` } };
      if (last === 'inside') return { status: 302, headers: { location: `/bot/echo?said=${said}` } };
      return { body: echo(request), headers: { 'x-said': said, 'set-cookie': `a=${said}` } };
    };
    for (const prefix of ['/bot', `/bot${made.path.value}`]) {
      for (const last of ['echo', 'refuse', 'lead', 'host', 'inside']) target!.on(`${prefix}/${last}`, route);
    }
  }

  async function runToEnd(place: string, data: object): Promise<{ workflowId: number; runId: string }> {
    const body = { project: projectId, title: place, data };
    const { id: workflowId } = await ask('create', account.api.post<{ id: number }>('/workflows/', { body }));
    const started = await ask('run', account.api.post<Envelope>(`/workflows/${workflowId}/run/`, { body: {} }));
    const end = await account.api.pollToEnd(started.data.id, { timeoutMs: 90_000 });
    answers.push([`the end of ${place}`, end]);
    for (const node of Object.keys(end.data.data ?? {})) {
      await ask(place, account.api.get(`/workflows/${workflowId}/history/${end.data.id}/nodes/${node}/`));
    }
    return { workflowId, runId: end.data.id };
  }

  it('no secret of any kind leaves', async () => {
    routeTarget();
    guarded.addClient({
      id: 'known',
      secret: made.mcpClient.value,
      redirectUri: `${stack.apiUrl}/api/v1/connections/callback/`,
    });
    const ids = await everyKind();
    provider.expireTokens();
    const runs = [];
    for (const execution of ['visible', 'dense']) {
      const run = await runToEnd(`kinds, ${execution}`, drawKinds(ids, { execution }));
      const { data } = await account.api.poll(run.runId);
      assert.equal(data.status, 'succeed', JSON.stringify(data).slice(0, 4_000));
      const codes = Object.values(data.data!).flatMap(({ error }) => error?.code ?? []);
      const count = (code: string) => codes.filter((each) => each === code).length;
      assert.deepEqual([count('http_status'), count('connection_origin')], [8, 24]);
      runs.push(run);
    }
    assert.deepEqual([...new Set(other!.requests.map(({ path }) => path))], ['/later']);
    assertClean('what a later node sends', other!.requests);
    for (const { forms } of [made.header, made.second, made.path, made.bearer]) {
      assert.ok(JSON.stringify(target!.requests).includes(forms[0]!), 'the target got it');
    }

    // MCP servers that repeat the address in an error, and a tool that fails with the token.
    const repeating = (secret: Canary) => {
      const repeat: McpHandler = ({ id, path, headers }, response) => {
        const message = JSON.stringify([path, headers, echoesOf(secret.value)]);
        sendJson(response, { jsonrpc: '2.0', id, error: { code: -32_000, message } });
      };
      return servers.endpoint({ 'tools/call': repeat, 'tools/list': repeat });
    };
    const [endpoint, pathEndpoint] = [repeating(made.mcpQuery), repeating(made.mcpPath)];
    const origins = [servers.origin];
    const [byQuery, byPath] = [
      await connect('mcp by query', {
        kind: 'query',
        origins,
        settings: { name: 'key' },
        secrets: { value: made.mcpQuery.value },
      }),
      await connect('mcp by path', {
        kind: 'path',
        origins,
        settings: { prefix: `${new URL(pathEndpoint.url).pathname}/` },
        secrets: { value: made.mcpPath.value },
      }),
    ];
    stack.modelProvider.script('canary-of-mcp', ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: JSON.stringify(messages) }
        : {
            toolCalls: [
              { name: 'note', arguments: { text: 'x' } },
              { name: 'fail', arguments: {} },
            ],
          },
    );
    const tools = { endpoint_url: guarded.url, connection: ids['mcp'], require_approval: 'never' };
    const onError = { on_error: 'continue' };
    for (const execution of ['visible', 'dense']) {
      const nodes = [
        trigger(),
        mcp(endpoint.url, 'any', {}, { connection: byQuery, ...onError }),
        mcp(`${pathEndpoint.url}/`, 'any', {}, { connection: byPath, ...onError }),
        mcp(guarded.url, 'fail', {}, { connection: ids['mcp'], ...onError }),
        agent('Work', { model_name: 'canary-of-mcp' }, [tools]),
        agent(
          'Work',
          { model_name: 'canary-of-mcp' },
          [{ ...tools, endpoint_url: endpoint.url, connection: byQuery }],
          onError,
        ),
        http(`${target!.url}/status/418`, { connection: ids['bearer'] }),
      ];
      const run = await runToEnd(`servers, ${execution}`, { ...drawing(linkInRow(nodes)), settings: { execution } });
      const { data } = await account.api.poll(run.runId);
      assert.deepEqual([data.status, data.data![nodes[4]!.id]!.status], ['failed', 'succeed'], JSON.stringify(data));
      const resumed = await ask(
        'resume',
        account.api.post<Envelope>(`/workflows/${run.workflowId}/history/${run.runId}/resume/`, { body: {} }),
      );
      await account.api.pollToEnd(resumed.data.id);
      runs.push(run, { workflowId: run.workflowId, runId: resumed.data.id });
    }
    assertClean('what models were asked', stack.modelProvider.requests);

    // These requests use the connections and workflows without a run.
    const connections = `/projects/${projectId}/connections/`;
    for (const [name, id] of Object.entries({ ...ids, byQuery, byPath })) {
      const place = `the connection ${name}`;
      await ask(place, account.api.get(`${connections}${id}/`));
      await ask(place, account.api.get(`${connections}${id}/used-by/`));
      await ask(place, account.api.post(`${connections}${id}/test/`, { body: {} }));
      await ask(place, account.api.patch(`${connections}${id}/`, { body: { name: `${name} again` } }));
    }
    for (const url of ['/bot/refuse', '/bot/host', '/bot/lead']) {
      for (const id of Object.values(ids).slice(0, 7)) {
        await ask('try', account.api.post(`${connections}${id}/test/`, { body: { url: target!.url + url } }));
      }
    }
    for (const connection of [byQuery, ids['mcp']]) {
      const body = { endpoint_url: connection === byQuery ? endpoint.url : guarded.url, connection };
      await ask('refused list of tools', account.api.post('/workflows/mcp-tools/', { body }));
    }
    for (const body of [
      {
        name: 'header again',
        kind: 'bearer',
        origins: ['https://a.example.com'],
        secrets: { token: made.bearer.value },
      },
      { name: 'x', kind: 'bearer', origins: ['x'], secrets: { token: made.bearer.value, [made.header.value]: 1 } },
      { name: 'x', kind: 'bearer', origins: ['https://a.example.com'], secrets: { token: [made.bearer.value] } },
      {
        name: 'x',
        kind: 'path',
        origins: ['https://a.example.com'],
        settings: {},
        secrets: { value: made.query.value },
      },
    ]) {
      // Each body has an error beside a secret. The refusal must name the field without the secret.
      const answer = await account.api.post<object>(connections, { body });
      assert.equal(answer.status, 400);
      assert.deepEqual(findCanaries(JSON.stringify(answer.body), [made.bearer, made.query]), []);
    }
    provider.expireTokens();
    const said = [provider.clientSecret, ...provider.issued].join(' ');
    provider.answer = { status: 400, body: { error: 'invalid_client', error_description: said, client_secret: said } };
    runs.push(
      await runToEnd(
        'refused tokens',
        drawing(linkInRow([trigger(), http(`${provider.url}/x`, { connection: ids['oauth'] })])),
      ),
    );
    provider.answer = { status: 400, body: { error: provider.issued.at(-1)!, error_description: said } };
    runs.push(
      await runToEnd(
        'repeated tokens',
        drawing(linkInRow([trigger(), http(`${provider.url}/x`, { connection: ids['machine'] })])),
      ),
    );
    const { workflowId } = runs[0]!;
    const there = await account.api.createProject('another one');
    const exported = await ask('export', account.api.get<object>(`/workflows/${workflowId}/export/`));
    await ask('import', account.api.post(`/projects/${there}/import/`, { body: exported }));
    await ask('duplicate', account.api.post(`/workflows/${workflowId}/duplicate/`));
    const texts = { market_title: 'Canaries', short_description: 'x', available_languages: ['en'] };
    await ask('texts', account.api.patch(`/workflows/${workflowId}/`, { body: texts }));
    const flags = `/workflows/${workflowId}/history/${runs[0]!.runId}`;
    const example = { use_in_marketplace_example: true };
    await ask('example', account.api.post(`${flags}/toggle-marketplace-example/`, { body: example }));
    const template = { use_as_marketplace_template: true };
    await ask('template', account.api.post(`${flags}/toggle-marketplace-use/`, { body: template }));
    const published = account.api.post<{ slug: string }>(`/workflows/${workflowId}/publish-on-marketplace/`);
    const market = `/workflows/marketplace/${(await ask('publish', published)).slug}/`;
    await ask('market', account.api.get(market));
    await ask('examples', account.api.get(`${market}examples/${runs[0]!.runId}/`));
    await ask('copy', account.api.post(`${market}add-from-marketplace/`));
    const { data: drawn } = await ask('read', account.api.get<{ data: object }>(`/workflows/${workflowId}/`));
    await ask('version', account.api.patch(`/workflows/${workflowId}/`, { body: { data: { ...drawn, note: 'x' } } }));
    for (const at of [
      connections,
      '/connections/?status=needs_authorization',
      `/projects/${projectId}/audit/?size=100`,
      `/projects/${projectId}/webhook-deliveries/`,
      `/workflows/${workflowId}/versions/`,
      `/workflows/${workflowId}/versions/1/`,
      `/workflows/${workflowId}/check_workflow/`,
      ...runs.flatMap(({ workflowId: id, runId }) => [
        `/runs/${runId}/`,
        `/workflows/${id}/history/${runId}/`,
        `/billing-history/workflowrun/${runId}/`,
      ]),
    ]) {
      await ask(`refused or not: ${at}`, account.api.get(at));
    }

    secrets.push(...[...provider.issued, ...guarded.issued].map((token, at) => watch(`token ${at}`, token)));
    for (const [place, answer] of answers) assertClean(place, answer);
    const told = await eventually(() => {
      const events = target!.requestsTo(hookPath);
      return events.length >= runs.length && events;
    });
    assertClean('the webhooks', told);
    await eventually(() => receiver.spans.filter(({ name }) => name === 'run').length >= runs.length);
    for (const bytes of receiver.bodies) assertClean('an exported span', bytes.toString('latin1'));
    const tables = await queryDatabase<{ name: string }>(
      stack,
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    for (const { name } of tables) {
      const rows = await queryDatabase<{ text: string }>(stack, `SELECT t::text AS text FROM "${name}" t`);
      assertClean(`table ${name}`, rows.map(({ text }) => text).join('\n'));
    }
    for (const { runId } of runs) {
      assertClean('the history', (await historyOf(stack, runId)).map(({ text }) => text).join('\n'));
      const described = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      assertClean('a description', toText(described.raw));
    }
    const files = readFiles(stack.dataDir, /^(?:stack\.json|secrets\.json|postgres(?:\/.*)?)$/);
    assert.ok(files.some(({ file, text }) => file.startsWith('logs/') && text.includes('"level":')));
    for (const { file, text } of files) assertClean(file, text);
  });
});
