import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { signToken } from '../../cli/admin/session-token.js';
import { Browser, createLink, createPerson } from '../api/sessions/people.js';
import { createHook, deliveriesOf } from '../api/webhook-receiver.js';
import { createApiClient, type ApiAnswer, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { createCanary, echoesOf, findCanaries, readFiles, watch, type Canary } from '../support/canary.js';
import { eventually } from '../../harness/timing/eventually.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import { agent, drawing, http, link, llm, mcp, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget, type TargetRequest } from '../../harness/target/http-target.js';
import { historyOf, queryDatabase, toText, withTemporal } from '../support/inspect.js';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');
const asWord = (core: string): string => `sk-${core}`;

describe('canaries', function () {
  this.timeout(300_000);
  const secretsKey = randomBytes(32).toString('base64');
  const [field, input] = [createCanary('default of a secret field'), createCanary('secret input')];
  const [mcpHeader, toolHeader] = [createCanary('header of an MCP node', asWord), createCanary('tool header', asWord)];
  const [providerKey, jwtSecret] = [createCanary('provider key', asWord), createCanary('JWT secret', asWord)];
  const internalToken = createCanary('internal token', asWord);
  const httpHeader = createCanary('header of an HTTP node', asWord);
  /** The prompt is content and no secret, but must not occur in Temporal, logs, metrics or traces either. */
  const prompt = createCanary('prompt', asWord);
  const secrets = [field, input, httpHeader, mcpHeader, toolHeader, providerKey, jwtSecret, internalToken];
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let servers: FakeMcpServer;
  let receiver: OtlpReceiver;

  before(async () => {
    [target, servers, receiver] = await Promise.all([startHttpTarget(), startFakeMcpServer(), startOtlpReceiver()]);
    stack = await startStack({
      env: {
        SECRETS_KEY: secretsKey,
        JWT_SECRET: jwtSecret.value.padEnd(40, 'x'),
        INTERNAL_SERVICE_TOKEN: internalToken.value,
        LOG_LEVEL: 'debug',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: '200',
      },
    });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    secrets.push(watch('SECRETS_KEY', secretsKey), watch('API key', stack.apiKey));
  });
  after(async () => {
    await Promise.all([stack.stop(), target.close(), servers.close(), receiver.close()]);
  });

  function assertClean(place: string, content: unknown, canaries: Canary[] = secrets): void {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    assert.deepEqual(findCanaries(text, canaries), [], place);
  }

  async function admin(...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], DATA_DIR: stack.dataDir, SECRETS_KEY: secretsKey };
    return (await promisify(execFile)(process.execPath, [ADMIN, ...args], { env })).stdout;
  }

  /**
   * Does everything that a person can do with a password and a link, correctly and wrongly. Returns the secrets
   * involved.
   */
  async function signInAndOut(): Promise<Canary[]> {
    const person = await createPerson(stack);
    const signInLink = await createLink(stack, person.userId);
    const [browser, thief] = [new Browser(stack.apiUrl), new Browser(stack.apiUrl)];
    const tokens = [(await browser.logIn(person)).body.access_token, browser.cookie!];
    thief.cookie = browser.cookie;
    tokens.push((await browser.refresh()).body.access_token, browser.cookie!);
    assert.equal((await thief.refresh()).status, 401);
    assert.equal((await browser.logIn({ ...person, password: `${person.password}x` })).status, 401);
    const text = `{"email": "${person.email}", "password": "${person.password}"`;
    assert.equal((await createApiClient(stack.apiUrl).post('/auth/login/', { text })).status, 400);
    tokens.push((await thief.post('link/', { token: signInLink })).body.access_token, thief.cookie!);
    assert.equal((await thief.post('link/', { token: signInLink })).status, 401);
    assert.equal((await thief.logOut()).status, 204);
    const parts = tokens.map((token) => watch('part of a token', token.split('.').at(-1)!));
    return [watch('password', person.password), watch('sign-in link', signInLink), ...parts];
  }

  /** Every kind of node gets secrets, and all called servers return them in every encoding. */
  function draw(fails: boolean) {
    const begin = trigger([
      { id: 'token', is_secret: true },
      { id: 'fallback', is_secret: true, default_value: field.value },
    ]);
    const body = { token: '{{ input.token }}', fallback: '{{ input.fallback }}' };
    const sent = { headers: { Authorization: `Bearer ${httpHeader.value}` }, body, method: 'POST' };
    const call = http(`${target.url}/echo-all`, sent);
    const endpoint = servers.endpoint({
      'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ headers, params }) => {
        const said = {
          headers: echoesOf(String(headers['x-api-key'])),
          given: echoesOf(String((params['arguments'] as { a?: unknown } | undefined)?.a)),
        };
        return { content: [{ type: 'text', text: JSON.stringify(said) }], structuredContent: said };
      },
    });
    const tool = mcp(endpoint.url, 'echo', { a: '{{ input.token }}' }, { headers: { 'x-api-key': mcpHeader.value } });
    const model = llm(`${prompt.value} ${resultOf(call)}`, { settings: { model_name: 'canary-echo' } });
    const server = {
      endpoint_url: endpoint.url,
      require_approval: 'always',
      headers: { 'x-api-key': toolHeader.value },
    };
    const asked = agent('Work {{ input.token }}', { model_name: 'canary-agent' }, [server]);
    const last = http(`${target.url}/refuse-all?t={{ input.token }}`, sent);
    link(begin, [call, tool]);
    link(call, model);
    link(model, asked);
    if (fails) link(asked, last);
    return drawing([begin, call, tool, model, asked, ...(fails ? [last] : [])]);
  }

  it('no secret leaves: by an answer, a file, a row, a log, a metric, a trace, a command or Temporal', async () => {
    const echo = ({ body, query, headers }: TargetRequest): object => {
      const given = [...Object.values(JSON.parse(body) as Record<string, string>), ...Object.values(query)];
      const values = [...given, String(headers.authorization).replace('Bearer ', '')];
      return values.map(echoesOf);
    };
    target.on('/echo-all', (request) => ({ body: echo(request) }));
    target.on('/refuse-all', (request) => ({ status: 400, body: echo(request) }));
    stack.modelProvider.script('canary-echo', ({ headers, messages }) => ({
      text: JSON.stringify([echoesOf(String(headers.authorization).slice(7)), messages]),
    }));
    stack.modelProvider.script('canary-agent', ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: JSON.stringify(messages) }
        : { toolCalls: [{ name: 'echo', arguments: { given: messages, key: echoesOf(input.value) } }] },
    );
    stack.modelProvider.script('canary-refused', ({ headers }) => ({
      status: 401,
      error: { message: JSON.stringify(echoesOf(String(headers.authorization).slice(7))) },
    }));

    const hook = await createHook(api, target);
    secrets.push(watch('webhook secret', hook.secret.replace('whsec_', '')));
    const attach = ['provider-key', 'attach', '--project', String(hook.projectId), '--provider', 'fake'];
    const printed = [await admin(...attach, '--key', providerKey.value)];
    const answers: [place: string, answer: unknown][] = [];
    const ask = async <T>(place: string, asking: Promise<ApiAnswer<T>>): Promise<T> => {
      const { body, headers, status } = await asking;
      assert.ok(status < 300 || place.startsWith('refused'), `${place}: ${status}`);
      answers.push([place, [body, [...headers]]]);
      return body;
    };
    const runIds: string[] = [];
    const workflowIds: number[] = [];
    const nodePaths: string[] = [];
    for (const fails of [false, true]) {
      const created = { project: hook.projectId, title: 'canaries', data: draw(fails) };
      const { id } = await ask('create', api.post<{ id: number }>('/workflows/', { body: created }));
      const sent = { body: { token: input.value } };
      const started = await ask('run', api.post<Envelope>(`/workflows/${id}/run/`, sent));
      const runId = started.data.id;
      const approvals = `/workflows/workflow_run/${runId}/agent-approval/`;
      const pending = await eventually(
        async () => {
          const { body } = await api.get<{ request_id: string }[]>(approvals);
          return body[0]?.request_id ?? (await api.poll(runId)).data.status === 'failed';
        },
        { timeoutMs: 60_000, intervalMs: 100 },
      );
      assert.equal(typeof pending, 'string', JSON.stringify(await api.poll(runId)).slice(0, 3_000));
      await ask('poll of a run that waits', api.get(`/workflows/workflow_result/?id=${runId}`));
      await ask('approvals of a run', api.get(approvals));
      await ask('approvals', api.get('/agent-approvals/?size=100'));
      await ask('one approval', api.get(`/agent-approvals/${String(pending)}/`));
      const waiting = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      assertClean('the description of a run that waits', toText(waiting.raw), [...secrets, prompt]);
      await ask('approve', api.post(`${approvals}${pending}/approve/`));
      const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
      assert.equal(end.data.status, fails ? 'failed' : 'succeed', JSON.stringify(end).slice(0, 3_000));
      answers.push(['poll', end]);
      nodePaths.push(...Object.keys(end.data.data!).map((node) => `/workflows/${id}/history/${runId}/nodes/${node}/`));
      runIds.push(runId);
      workflowIds.push(id);
    }
    const [workflow, run] = [workflowIds[0]!, runIds[0]!];
    const record = `/workflows/${workflow}/history/${run}`;
    const flag = (name: string, wanted: string) => api.post(`${record}/${name}/`, { body: { [wanted]: true } });
    await ask('example flag', flag('toggle-marketplace-example', 'use_in_marketplace_example'));
    await ask('template flag', flag('toggle-marketplace-use', 'use_as_marketplace_template'));
    const texts = { market_title: 'Canaries', short_description: 'x', available_languages: ['en'] };
    await ask('update', api.patch(`/workflows/${workflow}/`, { body: texts }));
    const published = await ask(
      'publish',
      api.post<{ slug: string }>(`/workflows/${workflow}/publish-on-marketplace/`),
    );
    const market = `/workflows/marketplace/${published.slug}/`;
    await ask('duplicate', api.post(`/workflows/${workflow}/duplicate/`));
    await ask('copy', api.post(`${market}add-from-marketplace/`));
    const { data } = await ask('workflow', api.get<{ data: object }>(`/workflows/${workflow}/`));
    await ask(
      'version',
      api.patch(`/workflows/${workflow}/`, { body: { data: { ...data, note: 'another version' } } }),
    );
    await ask('restore', api.post(`/workflows/${workflow}/versions/1/restore/`));
    const paths = [
      ...workflowIds.flatMap((id) =>
        ['', 'input-fields/', 'check_workflow/', 'history/', 'versions/', 'versions/1/'].map(
          (to) => `/workflows/${id}/${to}`,
        ),
      ),
      ...runIds.flatMap((id, index) => [
        `/workflows/${workflowIds[index]}/history/${id}/`,
        `/billing-history/workflowrun/${id}/`,
        `/runs/${id}/`,
        `/workflows/workflow_result/?id=${id}`,
      ]),
      '/runs/',
      '/usage/?group_by=workflow',
      '/usage/?group_by=model',
      ...nodePaths,
      '/projects/',
      `/projects/${hook.projectId}/`,
      `/projects/${hook.projectId}/webhook-deliveries/`,
      '/workflows/',
      '/all-workflows/',
      `/all-workflows/${workflow}/`,
      '/agent-approvals/',
      '/workflows/marketplace/',
      market,
      `${market}examples/`,
      `${market}examples/${run}/`,
    ];
    for (const each of paths) await ask(each, api.get(each));
    const messages = [{ role: 'user', content: 'x' }];
    const chat = await fetch(`${stack.apiUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.apiKey}`,
        'content-type': 'application/json',
        'x-project-id': String(hook.projectId),
      },
      body: JSON.stringify({ model: 'canary-refused', messages }),
    });
    assert.equal(chat.status, 401);
    answers.push(['the chat proxy', await chat.text()]);
    const session = await signToken(stack.stack.user_id, 3600, jwtSecret.value.padEnd(40, 'x'));
    const token = watch('session token', session.split('.')[2]!);
    const signedIn = createApiClient(stack.apiUrl, { session });
    await ask('projects of a session', signedIn.get('/projects/'));
    await ask('refused token', createApiClient(stack.apiUrl, { session: `${session}x` }).get('/projects/'));
    await ask('refused key', createApiClient(stack.apiUrl, `${stack.apiKey}x`).get('/projects/'));
    await ask('refused body', api.post('/workflows/', { text: `{"title": ${input.value}` }));
    secrets.push(token, ...(await signInAndOut()));

    await eventually(async () =>
      (await deliveriesOf(api, hook.projectId)).every(({ status }) => status === 'delivered'),
    );
    const told = target.requestsTo(hook.path).map(({ body, headers }) => ({ body, headers }));
    assert.ok(told.length >= 4);
    for (const [place, answer] of answers) assertClean(place, answer);
    assertClean('a webhook', told);
    // PostgreSQL's error quotes text that it cannot parse. Its log must not contain that text.
    await assert.rejects(queryDatabase(stack, 'SELECT $1::json', [`{"token": ${input.value}`]), /json/);
    for (const args of [
      ['key', 'list', '--user', '1'],
      ['secrets', 'status'],
      ['secrets', 'reencrypt'],
    ]) {
      printed.push(await admin(...args));
    }
    assertClean('what admin prints', printed);
    const port = /"port":(\d+)[^\n]*worker started/.exec(stack.logs())?.[1];
    for (const url of [`${stack.apiUrl}/metrics`, `http://127.0.0.1:${port}/metrics`]) {
      assertClean(url, await (await fetch(url)).text(), [...secrets, prompt]);
    }
    // The exported spans contain each of these runs and requests, and none of their contents.
    const ends = await eventually(() => {
      const exported = receiver.spans.filter(({ name }) => name === 'run');
      return exported.length >= 2 && exported.map(({ attributes }) => attributes['run.id']);
    });
    for (const runId of runIds) assert.ok(ends.includes(runId), runId);
    assert.ok(
      ['mcpTool', 'llmRequest', 'agentTools', 'webhook'].every((name) =>
        receiver.spans.some((span) => span.name === name),
      ),
    );
    for (const bytes of receiver.bodies)
      assertClean('an exported span', bytes.toString('latin1'), [...secrets, prompt]);
    const tables = await queryDatabase<{ name: string }>(
      stack,
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    for (const { name } of tables) {
      const rows = await queryDatabase<{ text: string }>(stack, `SELECT t::text AS text FROM "${name}" t`);
      assertClean(`table ${name}`, rows.map(({ text }) => text).join('\n'));
    }
    for (const runId of runIds) {
      assertClean('the history', (await historyOf(stack, runId)).map(({ text }) => text).join('\n'), [
        ...secrets,
        prompt,
      ]);
      const closed = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      assertClean('a description', toText(closed.raw), [...secrets, prompt]);
    }
    // stack.json and secrets.json are readable by the owner alone (mode 0600); the database's pages contain contents,
    // not secrets.
    const files = readFiles(stack.dataDir, /^(?:stack\.json|secrets\.json|postgres(?:\/.*)?)$/);
    assert.ok(
      files.some(({ file }) => file === 'logs/postgres.log') && files.some(({ file }) => file === 'temporal.db'),
    );
    for (const { file, text } of files) assertClean(file, text, [...secrets, prompt]);
  });

  it('the test finds each of its canaries in each of these encodings', () => {
    const canary = createCanary('any');
    for (const [encoding, echo] of Object.entries(echoesOf(canary.value))) {
      if (encoding === 'wrapped') continue; // its lines may cut the core
      for (const text of [echo].flat()) {
        const found =
          encoding === canary.value ? findCanaries(encoding, [canary]) : findCanaries(String(text), [canary]);
        assert.ok(found.length > 0, encoding);
      }
    }
  });
});
