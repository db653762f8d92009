// The valid requests from which the fuzzer starts: one for each way to call a route.
import { randomUUID } from 'node:crypto';
import {
  agent,
  condition,
  drawing,
  http,
  link,
  llm,
  mcp,
  node as nodeOf,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { cases as n8nCases } from '../../n8n/n8n-files.js';
import { lines, type Line } from '../role-matrix-lines.js';

export interface Seed extends Line {
  headers?: Record<string, string>;
}

/** The reserved domain `.invalid` never resolves, so the requests of a mutated drawing do not leave the machine. */
const TARGET = 'http://target.invalid/path';

const more: (Omit<Seed, 'for' | 'answer'> & Partial<Pick<Seed, 'for'>>)[] = [
  { route: 'POST /api/v1/workflows/', body: ({ project }) => ({ project, title: 'rich', data: richDrawing() }) },
  { route: 'POST /api/v1/workflows/', body: ({ project }) => ({ project, title: 'rich', data: richDrawing() }) },
  { route: 'PATCH /api/v1/workflows/:id/', body: () => ({ data: richDrawing() }) },
  { route: 'POST /api/v1/workflows/:id/check_workflow/', body: () => ({ drawing: richDrawing() }) },
  { route: 'POST /api/v1/workflows/:id/check_workflow/', body: () => ({ drawing: richDrawing() }) },
  { route: 'PATCH /api/v1/workflows/:id/', body: () => ({ data: richDrawing() }) },
  {
    route: 'PATCH /api/v1/workflows/:id/',
    body: () => ({
      title: 'all fields',
      market_title: 'market',
      short_description: 'short',
      available_languages: ['en', 'de'],
      readme_guide: '# guide',
      run_fee: '0.50',
      free_runs_per_user: 3,
      categories: [],
      subcategories: [],
      is_tool: true,
      is_chat: true,
    }),
  },
  { route: 'POST /api/v1/projects/:id/import/', body: () => ({ title: 'a drawing', data: richDrawing() }) },
  ...[3, 11, 23].map((seed) => ({
    route: 'POST /api/v1/projects/:id/import/' as const,
    body: () => JSON.parse(n8nCases[seed]!.text.replaceAll('example.com', 'example.invalid')) as object,
  })),
  {
    route: 'PATCH /api/v1/projects/:id/',
    body: () => ({ name: 'hook', webhook_url: 'https://target.invalid/hook', is_webhook_enabled: true }),
  },
  { route: 'POST /api/v1/workflows/:id/run/', body: () => ({ topic: 'x', token: 'secret-token', n: [1, { a: 2.5 }] }) },
  { route: 'POST /api/v1/workflows/:id/run/', body: () => ({ input_data: { topic: 'x' } }) },
  {
    route: 'POST /api/v1/workflows/:id/run/',
    body: () => ({ topic: 'x' }),
    headers: { 'idempotency-key': 'fuzz-key' },
  },
  { route: 'POST /api/v1/workflows/:id/history/:run_id/re-run/', body: () => ({ topic: 'again' }) },
  {
    route: 'POST /api/v1/workflows/:id/history/:run_id/resume/',
    body: () => ({ from: [randomUUID()], drawing: 'now', accept_unknown: true }),
  },
  {
    route: 'POST /api/v1/workflows/mcp-tools/',
    body: ({ workflow }) => ({
      endpoint_url: TARGET,
      transport: 'streamable_http',
      headers: { 'x-token': 'secret-token' },
      timeout: 1,
      workflow_id: workflow,
      node_id: randomUUID(),
    }),
  },
  {
    route: 'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/approve/',
    body: () => ({ reason: 'because', arguments: { a: 1, b: [2.5] }, arguments_hash: 'f'.repeat(64) }),
  },
  {
    route: 'POST /api/v1/workflows/execution-update/:workflow_run_id/',
    body: () => ({
      sequence: 3,
      status: 'failed',
      finished_at: new Date().toISOString(),
      nodes: { a: { status: 'failed', error: { code: 'x', message: 'y' } } },
      error: { code: 'x', message: 'y', node_id: 'a' },
    }),
  },
  {
    route: 'POST /v1/chat/completions/',
    keyIn: 'authorization',
    body: () => ({ model: 'm', messages: [{ role: 'user', content: 'hello' }], temperature: 0.5, n: 1 }),
  },
  {
    route: 'POST /api/v1/api-keys/',
    sessionOnly: true,
    body: ({ project }) => ({ label: 'all fields', project, scope: 'run', expires_at: '2099-01-31T12:00:00Z' }),
  },
  {
    route: 'POST /api/v1/users/',
    for: 'administrator',
    body: () => ({ name: 'all', email: `${randomUUID()}@example.com`, api_access: false, is_admin: false }),
  },
  { route: 'POST /api/v1/projects/:id/members/', body: () => ({ email: 'nobody@example.com', role: 'viewer' }) },
  { route: 'GET /api/v1/projects/:id/members/', query: () => 'page=1&size=2' },
  { route: 'GET /api/v1/users/', for: 'administrator', query: () => 'search=a&page=1&size=2' },
  { route: 'GET /api/v1/languages/', query: () => 'search=en&page=1&size=2' },
  { route: 'POST /api/v1/auth/refresh/', headers: { cookie: `wfa_refresh=${'a'.repeat(43)}.${'b'.repeat(43)}` } },
  { route: 'POST /api/v1/auth/logout/', headers: { cookie: `wfa_refresh=${'a'.repeat(43)}.${'b'.repeat(43)}` } },
  { route: 'GET /api/v1/auth/sessions/', sessionOnly: true, query: () => 'page=1&size=2' },
  { route: 'GET /api/v1/auth/oidc/callback/', query: () => 'state=1.a.b&code=c&iss=d' },
  { route: 'GET /api/v1/projects/', query: () => 'name__icontains=a&page=1&size=5' },
  { route: 'GET /api/v1/workflows/', query: ({ project }) => `project=${project}&title=a&page=1&page_size=5` },
  {
    route: 'GET /api/v1/all-workflows/',
    query: () =>
      'search=a&title__icontains=b&categories=1&categories=2&languages=en,de&own_scripts=true&ordering=-total_cost',
  },
  {
    route: 'GET /api/v1/workflows/marketplace/',
    query: () =>
      'search=a&subcategories=1&languages=en&marketplace_date_last_publication_after=2024-01-01' +
      '&marketplace_date_last_publication_before=2030-12-31&ordering=last_run_at&page=1&size=3',
  },
  { route: 'GET /api/v1/workflows/:id/history/', query: () => 'ordering=-cost&page=1&size=2' },
  {
    route: 'GET /api/v1/runs/',
    query: ({ project, workflow }) =>
      `project=${project}&workflow=${workflow}&status=Succeeded&search=matrix&started_after=2024-01-01T00:00:00Z` +
      '&started_before=2030-12-31&ordering=-cost&page=1&size=2',
  },
  {
    route: 'POST /api/v1/workflows/:id/hooks/',
    body: () => ({ verify: 'hmac-sha256', header: 'Stripe-Signature', secret: 'whsec_of_stripe' }),
  },
  { route: 'POST /api/v1/workflows/:id/hooks/', body: () => ({ verify: 'none', header: null, secret: null }) },
  {
    route: 'POST /api/v1/workflows/:id/schedules/',
    body: () => ({
      cron: '*/5 8-18/2 1,15 JAN-DEC MON-FRI',
      time_zone: 'Europe/Berlin',
      input: { topic: 'cats' },
      overlap: 'buffer_one',
      is_paused: true,
      jitter_seconds: 30,
      catchup_seconds: 60,
    }),
  },
  { route: 'GET /api/v1/workflows/:id/schedules/', query: () => 'page=1&size=2' },
  { route: 'GET /api/v1/workflows/:id/hooks/', query: () => 'page=1&size=2' },
  {
    route: 'POST /api/v1/hooks/:token/',
    for: 'open',
    params: ({ hook }) => ({ token: hook.token }),
    headers: { 'webhook-id': 'fuzz', 'x-github-delivery': 'fuzz', 'idempotency-key': 'fuzz' },
    body: () => ({ topic: 'x', n: [1, { a: 2.5 }] }),
  },
  {
    route: 'POST /mcp/',
    keyIn: 'authorization',
    headers: { 'mcp-session-id': 'fuzz', 'mcp-protocol-version': '2025-06-18', accept: '*/*' },
    body: () => ({
      jsonrpc: '2.0',
      id: 'a',
      method: 'tools/call',
      params: { name: 'tool_1', arguments: { n: [1, { a: 2.5 }] }, _meta: { progressToken: 1 } },
    }),
  },
  {
    route: 'GET /mcp/',
    keyIn: 'authorization',
    headers: { 'mcp-session-id': 'fuzz', 'last-event-id': 'WzEsbnVsbCwwXQ', accept: 'text/event-stream' },
  },
  { route: 'GET /api/v1/workflows/:id/versions/', query: () => 'page=1&size=2' },
  {
    route: 'GET /api/v1/usage/',
    query: ({ project }) => `group_by=workflow&from=2026-01-01&to=2026-01-31&project=${project}`,
  },
  {
    route: 'PATCH /api/v1/workflows/:id/',
    body: () => ({ title: 'mine' }),
    headers: { 'if-match': '*, W/"1.1", "2.2"' },
  },
  { route: 'GET /api/v1/billing-history/workflowrun/:run_id/', query: () => 'page=1&size=100' },
  { route: 'GET /api/v1/billing-history/chat/', query: ({ project }) => `page=1&size=100&project=${project}` },
  {
    route: 'PATCH /api/v1/projects/:id/',
    body: () => ({ spending_limit: { amount: '1000000.5', period: 'month' } }),
  },
  { route: 'PATCH /api/v1/workflows/:id/', body: () => ({ max_run_cost: '1000000.25' }) },
  {
    route: 'POST /api/v1/human-tasks/:task_id/answer/',
    params: ({ task }) => ({ task_id: task }),
    body: () => ({ action: 'done', values: { note: 'n', n: 1 }, comment: 'because' }),
  },
  {
    route: 'POST /api/v1/workflows/:id/conversations/',
    body: () => ({ title: 't', user: 'ada', inputs: { topic: 'x', n: [1, { a: 2.5 }] } }),
  },
  { route: 'GET /api/v1/workflows/:id/conversations/', query: () => 'user=ada&page=1&size=2' },
  {
    route: 'PATCH /api/v1/conversations/:conversation_id/',
    params: ({ conversation }) => ({ conversation_id: conversation }),
    body: () => ({ title: 'other' }),
  },
  {
    route: 'POST /api/v1/conversations/:conversation_id/messages/',
    params: ({ conversation }) => ({ conversation_id: conversation }),
    headers: { 'idempotency-key': 'fuzz-message' },
    body: ({ file }) => ({ content: 'Hello', files: [file], on_busy: 'stop', replaces: file }),
  },
  {
    route: 'POST /api/v1/conversations/:conversation_id/messages/',
    params: ({ conversation }) => ({ conversation_id: conversation }),
    body: () => ({ content: 'Hello' }),
  },
  { route: 'GET /api/v1/human-tasks/', query: () => 'status=pending&page=1&size=2' },
  { route: 'GET /api/v1/agent-approvals/', query: () => 'status=pending&page=1' },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/',
    params: ({ node }) => ({ node_id: node }),
    query: ({ node }) => `path=${node}[3]/inner[0]`,
  },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/steps/',
    params: ({ node }) => ({ node_id: node }),
    query: ({ node }) => `path=${node}[3]&page=2&size=1`,
  },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/iterations/',
    query: ({ node }) => `node=${node}&path=${node}[3]&status=failed&page=2&size=1`,
  },
  { route: 'GET /api/v1/projects/:id/webhook-deliveries/', query: () => 'page=1&size=1' },
];

export const seeds: readonly Seed[] = [
  ...lines,
  ...more.map((seed) => ({ for: 'anyone' as const, answer: '200' as const, ...seed })),
];

/** A drawing with nodes of each kind, and variables in every field that takes them. */
function richDrawing(): object {
  const start = trigger([
    { id: 'topic', title: 'Topic', type: 'text', input_requirements: false, default_value: 'cats' },
    { id: 'token', title: 'Token', type: 'text', is_secret: true, default_value: 'default-secret' },
    { id: 'pick', type: 'select', options: [{ title: 'A', value: 'a', is_default: true }] },
  ]);
  const call = http(TARGET, {
    method: 'POST',
    headers: { Authorization: 'Bearer {{ input.token }}', 'X-Topic': '{{ input.topic }}' },
    body: { topic: '{{ input.topic }}', whole: '{{ input }}', list: [1, '{{ input.tags[0] }}'] },
    settings: { timeout: 1, fail_on_status: false },
  });
  const ask = llm(`About {{ input.topic }}: ${resultOf(call)}`);
  const tool = mcp('http://target.invalid/mcp', 'echo', { text: '{{ input.topic }}' }, { timeout: 0.5 });
  const helper = agent('Do {{ input.topic }}', { max_iterations: 2, approval_timeout: 1 }, [
    {
      endpoint_url: 'http://target.invalid/mcp',
      require_approval: 'never',
      timeout: 0.5,
      headers: { 'x-api-key': 'k' },
    },
  ]);
  const check = condition('{{ input.topic }}', '==', 'cats');
  link(start, check);
  link(check, ask, 'true');
  link(check, call, 'false');
  link(ask, [tool, helper]);
  return drawing([start, check, call, ask, tool, helper, ...languageNodes(tool)]);
}

/** Nodes of the remaining kinds, which follow `before`. */
function languageNodes(before: DrawingNode): DrawingNode[] {
  const item = nodeOf('set', { value: { text: '{{ input.topic }}', list: [1, '{{ input.tags }}'] } });
  const round = nodeOf('code', {
    code: 'return inputs.n + 1',
    inputs: { n: '{{ input.n }}' },
    settings: { timeout: 1 },
  });
  const each = nodeOf('for_each', {
    items: [1, '{{ input.topic }}'],
    body_node: item.id,
    concurrency: 2,
    max_items: 3,
  });
  const until = { left: '{{ input.topic }}', operator: 'matches', right: '^c.t' };
  const loop = nodeOf('loop', { body_node: round.id, until, max_rounds: 2, on_limit: 'continue', output: { a: [1] } });
  const pause = nodeOf('wait', { mode: 'duration', seconds: 0, timeout: 1 });
  const person = nodeOf('human', {
    message: '# {{ input.topic }}',
    fields: [{ id: 'note', title: 'Note', default_value: 'x' }],
    actions: [{ id: 'yes', label: 'Yes', node: pause.id }],
    assignees: { roles: ['owner'], users: [1] },
    required: 2,
    timeout: 0,
    timeout_node: pause.id,
  });
  const choice = nodeOf('switch', {
    cases: [
      { id: 'a', label: 'A', condition: until, node: each.id },
      { id: 'b', condition: { all: [until, { any: [until, { all: [until] }] }] }, node: null },
    ],
    default_node: person.id,
    mode: 'all',
    retry: { max_attempts: 2, delay: 1, backoff: 2 },
    on_error: 'branch',
    error_node: pause.id,
    join: 'any',
  });
  const end = nodeOf('output', { value: resultOf(pause) });
  link(before, choice);
  link(each, loop);
  link(pause, end);
  return [choice, each, item, loop, round, person, pause, end];
}
