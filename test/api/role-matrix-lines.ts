// The expected permissions: one line for each route. role-matrix.test.ts fails if a route of api/app.ts has no line.
// docs/use/api.md, "Authentication", describes the permissions of each role.
import { randomUUID } from 'node:crypto';
import { chain } from '../../harness/drawing/drawing.js';
import type { Role } from '../../db/core/tables.js';
import type { World } from './role-matrix-world.js';

/** A status; for errors also the `code` of the body, because a 400 or 404 can have several reasons. */
export type Outcome = `${number}` | `${number} ${string}`;

export interface Line {
  /** Method and path as the route declares them. */
  route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  /**
   * The lowest role that is permitted. `anyone`: no role in a project is needed. `administrator`: a user with
   * `is_admin`. `internal`: only the workers. `open`: no authentication.
   */
  for: Role | 'anyone' | 'administrator' | 'internal' | 'open';
  /** The answer to a permitted caller. */
  answer: Outcome;
  /** The answer to members with a lower role; 403 unless stated. */
  refusal?: Outcome;
  /** The answer to callers who are no members; 404 unless stated. */
  stranger?: Outcome;
  /** The key is sent in the Authorization header, and a session token is not accepted: the chat proxy and `/mcp`. */
  keyIn?: 'authorization';
  /**
   * The answer to a member's key that is restricted to another project. The default is `stranger`, or 403
   * `key_project` if `stranger` is not set either.
   */
  outside?: Outcome;
  /**
   * The answer to keys that are restricted to a project, if it differs from the answer to other keys of their users.
   */
  restricted?: Outcome;
  /** Keys are refused; only a session is accepted. */
  sessionOnly?: true;
  /**
   * Path parameters that the test does not fill in by itself, or that replace its values. It fills in `id` (of the
   * world's project or workflow), `run_id`, `workflow_run_id`, `request_id` and `slug`.
   */
  params?: (world: World) => Record<string, string>;
  query?: (world: World) => string;
  body?: (world: World) => object;
  headers?: Record<string, string>;
}

const NO_ID = '2147483647';

const ofCase = () => ({ case_id: NO_ID });
const ofCaseRun = () => ({ case_run_id: randomUUID() });
const ofFile = ({ file }: World) => ({ file_id: file });
const ofConversation = ({ conversation }: World) => ({ conversation_id: conversation });
const ofNoConversation = () => ({ conversation_id: randomUUID() });
const ofService = ({ service }: World) => ({ service_id: service });
const ofAction = ({ service }: World) => ({ service_id: service, action_id: 'list' });
const OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Things' },
  servers: [{ url: 'https://things.example.com' }],
  paths: { '/things': { get: { operationId: 'list', responses: {} } } },
};
const ofConnection = ({ connection }: World) => ({ connection_id: String(connection) });

export const lines: Line[] = [
  {
    route: 'POST /api/v1/auth/login/',
    for: 'open',
    answer: '401 authentication_failed',
    // Each call uses another account, because failed logins are counted for each account.
    body: () => ({ email: `${randomUUID()}@example.com`, password: 'not the password' }),
  },
  {
    route: 'POST /api/v1/auth/link/',
    for: 'open',
    answer: '401 authentication_failed',
    body: () => ({ token: 'unknown' }),
  },
  { route: 'POST /api/v1/auth/refresh/', for: 'open', answer: '401 not_authenticated' },
  { route: 'POST /api/v1/auth/logout/', for: 'open', answer: '204' },
  { route: 'GET /api/v1/auth/providers/', for: 'open', answer: '200' },
  // The stack has no identity provider.
  { route: 'GET /api/v1/auth/oidc/', for: 'open', answer: '404 not_found' },
  { route: 'GET /api/v1/auth/oidc/callback/', for: 'open', answer: '404 not_found' },
  { route: 'GET /api/v1/auth/sessions/', for: 'anyone', sessionOnly: true, answer: '200' },
  {
    route: 'DELETE /api/v1/auth/sessions/:session_id/',
    for: 'anyone',
    sessionOnly: true,
    answer: '404 not_found',
    params: () => ({ session_id: randomUUID() }),
  },

  {
    route: 'POST /api/v1/auth/password/',
    for: 'anyone',
    sessionOnly: true,
    answer: '400',
    body: () => ({ current_password: 'not the password', new_password: 'short' }),
  },
  {
    route: 'POST /api/v1/auth/password/reset/',
    for: 'open',
    answer: '401 authentication_failed',
    body: () => ({ token: 'unknown', new_password: 'correct horse battery' }),
  },

  { route: 'GET /api/v1/projects/', for: 'anyone', answer: '200' },
  {
    route: 'POST /api/v1/projects/',
    for: 'anyone',
    answer: '201',
    restricted: '403 permission_denied',
    body: () => ({ name: 'new' }),
  },
  { route: 'GET /api/v1/projects/:id/', for: 'viewer', answer: '200' },
  { route: 'PATCH /api/v1/projects/:id/', for: 'admin', answer: '200', body: () => ({ name: 'other' }) },
  { route: 'DELETE /api/v1/projects/:id/', for: 'owner', answer: '204' },

  { route: 'GET /api/v1/workflows/', for: 'anyone', answer: '200' },
  {
    route: 'POST /api/v1/workflows/',
    for: 'editor',
    answer: '201',
    stranger: '400',
    body: ({ project }) => ({ project, title: 'new', data: chain(1) }),
  },
  { route: 'GET /api/v1/workflows/:id/', for: 'viewer', answer: '200' },
  { route: 'PATCH /api/v1/workflows/:id/', for: 'editor', answer: '200', body: () => ({ title: 'other' }) },
  { route: 'DELETE /api/v1/workflows/:id/', for: 'editor', answer: '204' },
  { route: 'GET /api/v1/workflows/:id/versions/', for: 'viewer', answer: '200' },
  {
    route: 'GET /api/v1/workflows/:id/versions/:version/',
    for: 'viewer',
    answer: '200',
    params: () => ({ version: '1' }),
  },
  {
    route: 'POST /api/v1/workflows/:id/versions/:version/restore/',
    for: 'editor',
    answer: '200',
    params: () => ({ version: '1' }),
  },
  { route: 'GET /api/v1/workflows/:id/draft/', for: 'editor', answer: '404 not_found' },
  {
    route: 'PUT /api/v1/workflows/:id/draft/',
    for: 'editor',
    answer: '200',
    body: () => ({ data: chain(1), base_version: 1 }),
  },
  { route: 'DELETE /api/v1/workflows/:id/draft/', for: 'editor', answer: '404 not_found' },
  { route: 'GET /api/v1/projects/:id/tags/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/projects/:id/hooks/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/projects/:id/schedules/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/hooks/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/workflows/:id/hooks/',
    for: 'editor',
    answer: '201',
    body: () => ({ verify: 'standard-webhooks' }),
  },
  {
    route: 'PATCH /api/v1/workflows/:id/hooks/:hook_id/',
    for: 'editor',
    answer: '400',
    params: ({ hook }) => ({ hook_id: String(hook.id) }),
    // The world's hook requires no signatures: a permitted caller gets this error.
    body: () => ({ secret: null }),
  },
  {
    route: 'DELETE /api/v1/workflows/:id/hooks/:hook_id/',
    for: 'editor',
    answer: '204',
    params: ({ hook }) => ({ hook_id: String(hook.id) }),
  },
  { route: 'GET /api/v1/workflows/:id/conversations/', for: 'viewer', answer: '200' },
  { route: 'POST /api/v1/workflows/:id/conversations/', for: 'editor', answer: '201', body: () => ({}) },
  // The owner's conversation. Whatever the role, only the author may change a conversation, so the routes that change
  // one get an unknown id here. test/api/conversations/ tests the changes.
  {
    route: 'GET /api/v1/conversations/:conversation_id/',
    for: 'admin',
    answer: '200',
    refusal: '404 not_found',
    params: ofConversation,
  },
  {
    route: 'GET /api/v1/conversations/:conversation_id/messages/',
    for: 'admin',
    answer: '200',
    refusal: '404 not_found',
    params: ofConversation,
  },
  {
    route: 'PATCH /api/v1/conversations/:conversation_id/',
    for: 'anyone',
    answer: '404 not_found',
    params: ofNoConversation,
    body: () => ({ title: 'other' }),
  },
  {
    route: 'DELETE /api/v1/conversations/:conversation_id/',
    for: 'anyone',
    answer: '404 not_found',
    params: ofNoConversation,
  },
  {
    route: 'POST /api/v1/conversations/:conversation_id/messages/',
    for: 'anyone',
    answer: '404 not_found',
    params: ofNoConversation,
    body: () => ({ content: 'Hello' }),
  },
  { route: 'GET /api/v1/workflows/:id/assistant/', for: 'editor', answer: '200' },
  { route: 'PUT /api/v1/workflows/:id/assistant/', for: 'editor', answer: '200', body: () => ({ model: 'matrix' }) },
  // No assistant has answered in the world's workflow.
  { route: 'GET /api/v1/workflows/:id/assistant/before/', for: 'editor', answer: '404 not_found' },
  { route: 'GET /api/v1/workflows/:id/schedules/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/workflows/:id/schedules/',
    for: 'editor',
    answer: '201',
    body: () => ({ cron: '0 8 1 1 *', is_paused: true, input: { topic: 'cats' } }),
  },
  {
    route: 'PATCH /api/v1/workflows/:id/schedules/:schedule_id/',
    for: 'editor',
    answer: '200',
    params: ({ schedule }) => ({ schedule_id: schedule }),
    body: () => ({ cron: '0 9 1 1 *' }),
  },
  {
    route: 'DELETE /api/v1/workflows/:id/schedules/:schedule_id/',
    for: 'editor',
    answer: '204',
    params: ({ schedule }) => ({ schedule_id: schedule }),
  },
  {
    route: 'POST /api/v1/hooks/:token/',
    for: 'open',
    answer: '202',
    params: ({ hook }) => ({ token: hook.token }),
    body: () => ({ topic: 'cats' }),
  },
  { route: 'GET /api/v1/workflows/:id/tool/', for: 'viewer', answer: '200' },
  {
    route: 'POST /mcp/',
    for: 'anyone',
    keyIn: 'authorization',
    answer: '200',
    body: () => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'matrix', version: '1' } },
    }),
  },
  {
    route: 'POST /mcp/build/',
    for: 'anyone',
    keyIn: 'authorization',
    answer: '200',
    body: () => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'matrix', version: '1' } },
    }),
  },
  { route: 'GET /mcp/', for: 'anyone', keyIn: 'authorization', answer: '405 method_not_allowed' },
  { route: 'GET /api/v1/workflows/:id/export/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/projects/:id/import/',
    for: 'editor',
    answer: '201',
    body: () => ({ format: 'workflow-automation/1', title: 'imported', data: chain(1) }),
  },
  { route: 'GET /api/v1/workflows/get_nodes/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/input-fields/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/check_workflow/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/workflows/:id/check_workflow/',
    for: 'editor',
    answer: '200',
    body: () => ({ drawing: chain(1) }),
  },

  { route: 'POST /api/v1/workflows/:id/run/', for: 'editor', answer: '200' },
  {
    route: 'GET /api/v1/workflows/workflow_result/',
    for: 'viewer',
    answer: '200',
    stranger: '400 invalid',
    query: ({ run }) => `id=${run}`,
  },
  {
    route: 'GET /api/v1/workflows/workflow_result/events/',
    for: 'viewer',
    answer: '200',
    stranger: '400 invalid',
    query: ({ run }) => `id=${run}`,
  },
  { route: 'GET /api/v1/workflows/:id/history/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/history/:run_id/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/runs/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/runs/:run_id/', for: 'viewer', answer: '200' },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/',
    for: 'viewer',
    answer: '200',
    params: ({ node }) => ({ node_id: node }),
  },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/steps/',
    for: 'viewer',
    answer: '200',
    params: ({ node }) => ({ node_id: node }),
  },
  {
    route: 'GET /api/v1/workflows/:id/history/:run_id/iterations/',
    for: 'viewer',
    answer: '200',
    query: ({ node }) => `node=${node}`,
  },
  // The world's run has finished: a permitted caller gets this error.
  { route: 'POST /api/v1/workflows/:id/history/:run_id/cancel/', for: 'editor', answer: '400 run_finished' },

  {
    route: 'POST /api/v1/workflows/execution-update/:workflow_run_id/',
    for: 'internal',
    answer: '409 run_ended',
    body: () => ({ sequence: 1, status: 'succeed' }),
  },
  { route: 'GET /healthz', for: 'open', answer: '200' },
  { route: 'GET /readyz', for: 'open', answer: '200' },
  { route: 'GET /metrics', for: 'open', answer: '200' },

  {
    route: 'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/approve/',
    for: 'editor',
    answer: '200',
  },
  {
    route: 'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/reject/',
    for: 'editor',
    answer: '200',
  },
  { route: 'GET /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/callbacks/:token/',
    for: 'open',
    answer: '404 not_found',
    params: () => ({ token: 'unknown' }),
  },
  { route: 'GET /api/v1/human-tasks/', for: 'anyone', answer: '200' },
  {
    route: 'GET /api/v1/human-tasks/:task_id/',
    for: 'viewer',
    answer: '200',
    params: ({ task }) => ({ task_id: task }),
  },
  {
    route: 'POST /api/v1/human-tasks/:task_id/answer/',
    for: 'editor',
    answer: '409 settled',
    params: ({ task }) => ({ task_id: task }),
    body: () => ({ action: 'done' }),
  },
  { route: 'GET /api/v1/agent-approvals/', for: 'anyone', answer: '200' },
  {
    route: 'GET /api/v1/agent-approvals/:request_id/',
    for: 'viewer',
    answer: '200',
    params: ({ request }) => ({ request_id: request }),
  },

  { route: 'POST /api/v1/workflows/:id/duplicate/', for: 'editor', answer: '201', refusal: '400 permission_denied' },
  {
    route: 'POST /api/v1/workflows/:id/reorder/',
    for: 'editor',
    answer: '200',
    refusal: '400 permission_denied',
    body: () => ({ sort_id: 1 }),
  },
  { route: 'POST /api/v1/workflows/:id/history/:run_id/re-run/', for: 'editor', answer: '201' },
  {
    route: 'POST /api/v1/workflows/:id/history/:run_id/resume/',
    for: 'editor',
    // The world's run has succeeded.
    answer: '400 nothing_left',
    body: () => ({}),
  },
  {
    route: 'POST /api/v1/workflows/:id/test/',
    for: 'editor',
    answer: '201',
    body: ({ node }) => ({ mode: 'node', node }),
  },
  {
    route: 'POST /api/v1/workflows/:id/estimate/',
    for: 'editor',
    answer: '200',
    body: ({ node }) => ({ mode: 'node', node }),
  },
  { route: 'GET /api/v1/workflows/:id/pins/', for: 'viewer', answer: '200' },
  {
    route: 'PUT /api/v1/workflows/:id/pins/:node_id/',
    for: 'editor',
    answer: '200',
    params: ({ node }) => ({ node_id: node }),
    body: () => ({ result: { content: 'pinned' } }),
  },
  {
    route: 'DELETE /api/v1/workflows/:id/pins/:node_id/',
    for: 'editor',
    answer: '404 not_found',
    params: () => ({ node_id: randomUUID() }),
  },
  { route: 'GET /api/v1/workflows/:id/cases/', for: 'viewer', answer: '200' },
  { route: 'POST /api/v1/workflows/:id/cases/', for: 'editor', answer: '201', body: () => ({ name: 'role matrix' }) },
  {
    route: 'POST /api/v1/workflows/:id/cases/from-run/',
    for: 'editor',
    answer: '400',
    body: () => ({ run_id: randomUUID(), name: 'role matrix' }),
  },
  { route: 'GET /api/v1/workflows/:id/cases/:case_id/', for: 'viewer', answer: '404 not_found', params: ofCase },
  {
    route: 'PATCH /api/v1/workflows/:id/cases/:case_id/',
    for: 'editor',
    answer: '404 not_found',
    params: ofCase,
    body: () => ({ name: 'changed' }),
  },
  { route: 'DELETE /api/v1/workflows/:id/cases/:case_id/', for: 'editor', answer: '404 not_found', params: ofCase },
  {
    route: 'POST /api/v1/workflows/:id/cases/run/',
    for: 'editor',
    answer: '201',
    body: () => ({ case_ids: [] }),
  },
  {
    route: 'GET /api/v1/workflows/:id/case-runs/:case_run_id/',
    for: 'viewer',
    answer: '404 not_found',
    params: ofCaseRun,
  },
  {
    route: 'POST /api/v1/workflows/:id/case-runs/:case_run_id/cancel/',
    for: 'editor',
    answer: '404 not_found',
    params: ofCaseRun,
  },
  {
    route: 'POST /api/v1/workflows/:id/history/:run_id/toggle-api-run/',
    for: 'editor',
    answer: '200',
    refusal: '400 permission_denied',
    body: () => ({ is_api_run: true }),
  },
  {
    route: 'POST /api/v1/workflows/:id/history/:run_id/toggle-marketplace-example/',
    for: 'admin',
    answer: '200',
    refusal: '400 permission_denied',
    body: () => ({ use_in_marketplace_example: true }),
  },
  {
    route: 'POST /api/v1/workflows/:id/history/:run_id/toggle-marketplace-use/',
    for: 'admin',
    answer: '200',
    refusal: '400 permission_denied',
    body: () => ({ use_as_marketplace_template: true }),
  },
  { route: 'GET /api/v1/billing-history/workflowrun/:run_id/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/billing-history/chat/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/models/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/usage/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/projects/:id/audit/', for: 'admin', answer: '200' },
  { route: 'GET /api/v1/audit/', for: 'administrator', answer: '200' },
  { route: 'GET /api/v1/projects/:id/spending/', for: 'viewer', answer: '200' },

  {
    route: 'POST /api/v1/workflows/:id/publish-on-marketplace/',
    for: 'admin',
    answer: '200',
    refusal: '400 permission_denied',
  },
  {
    route: 'POST /api/v1/workflows/:id/unpublish-from-marketplace/',
    for: 'admin',
    answer: '200',
    refusal: '400 permission_denied',
  },
  { route: 'GET /api/v1/all-workflows/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/all-workflows/:id/', for: 'viewer', answer: '200' },
  { route: 'POST /api/v1/all-workflows/:id/add-bookmark/', for: 'viewer', answer: '201' },
  { route: 'DELETE /api/v1/all-workflows/:id/delete-bookmark/', for: 'viewer', answer: '204' },
  { route: 'GET /api/v1/workflows/marketplace/', for: 'open', answer: '200' },
  { route: 'GET /api/v1/workflows/marketplace/:slug/', for: 'open', answer: '200' },
  { route: 'GET /api/v1/workflows/marketplace/:slug/examples/', for: 'open', answer: '200' },
  {
    route: 'GET /api/v1/workflows/marketplace/:slug/examples/:run_id/',
    for: 'open',
    answer: '200',
    params: ({ publishedRun }) => ({ run_id: publishedRun }),
  },
  { route: 'POST /api/v1/workflows/marketplace/:slug/add-from-marketplace/', for: 'anyone', answer: '201' },

  {
    route: 'POST /v1/chat/completions/',
    for: 'anyone',
    answer: '200',
    keyIn: 'authorization',
    body: () => ({ model: 'm', messages: [] }),
  },
  { route: 'GET /api/v1/openapi.json/', for: 'open', answer: '200' },
  { route: 'GET /docs/', for: 'open', answer: '200' },
  { route: 'GET /docs/:file/', for: 'open', answer: '200', params: () => ({ file: 'start.js' }) },

  {
    route: 'POST /api/v1/workflows/mcp-tools/',
    for: 'anyone',
    answer: '400',
    body: () => ({ endpoint_url: 'not a url' }),
  },

  { route: 'GET /api/v1/me/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/api-keys/', for: 'anyone', answer: '200', sessionOnly: true },
  { route: 'POST /api/v1/api-keys/', for: 'anyone', answer: '201', sessionOnly: true, body: () => ({ label: 'new' }) },
  // No key has this id. test/api/access/api-keys.test.ts changes the caller's own keys.
  {
    route: 'PATCH /api/v1/api-keys/:id/',
    for: 'anyone',
    answer: '404 not_found',
    sessionOnly: true,
    params: () => ({ id: NO_ID }),
    body: () => ({ label: 'other' }),
  },
  {
    route: 'DELETE /api/v1/api-keys/:id/',
    for: 'anyone',
    answer: '404 not_found',
    sessionOnly: true,
    params: () => ({ id: NO_ID }),
  },
  { route: 'GET /api/v1/pools/', for: 'administrator', answer: '200' },
  { route: 'GET /api/v1/users/', for: 'administrator', answer: '200' },
  { route: 'POST /api/v1/users/', for: 'administrator', answer: '201', body: () => ({ name: 'new' }) },
  {
    route: 'PATCH /api/v1/users/:id/',
    for: 'administrator',
    answer: '200',
    params: ({ member }) => ({ id: String(member) }),
    body: () => ({ name: 'test user' }),
  },
  {
    route: 'POST /api/v1/users/:id/password-link/',
    for: 'administrator',
    sessionOnly: true,
    // The world's users have no e-mail address.
    answer: '400 no_email',
    params: ({ member }) => ({ id: String(member) }),
  },
  {
    route: 'GET /api/v1/users/:id/sessions/',
    for: 'administrator',
    sessionOnly: true,
    answer: '200',
    params: ({ member }) => ({ id: String(member) }),
  },
  {
    route: 'DELETE /api/v1/users/:id/sessions/',
    for: 'administrator',
    sessionOnly: true,
    answer: '204',
    params: ({ member }) => ({ id: String(member) }),
  },
  { route: 'GET /api/v1/projects/:id/members/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/projects/:id/members/',
    for: 'admin',
    answer: '201',
    body: ({ newcomer }) => ({ user_id: newcomer, role: 'editor' }),
  },
  {
    route: 'PATCH /api/v1/projects/:id/members/:user_id/',
    for: 'admin',
    answer: '200',
    params: ({ member }) => ({ user_id: String(member) }),
    body: () => ({ role: 'editor' }),
  },
  {
    route: 'DELETE /api/v1/projects/:id/members/:user_id/',
    for: 'admin',
    answer: '204',
    params: ({ member }) => ({ user_id: String(member) }),
  },
  { route: 'GET /api/v1/projects/:id/provider-keys/', for: 'viewer', answer: '200' },
  {
    route: 'POST /api/v1/projects/:id/provider-keys/',
    for: 'admin',
    answer: '201',
    body: () => ({ provider: 'fake', key: 'sk-role-matrix-key' }),
  },
  {
    route: 'DELETE /api/v1/projects/:id/provider-keys/:key_id/',
    for: 'admin',
    answer: '404 not_found',
    params: () => ({ key_id: NO_ID }),
  },
  { route: 'GET /api/v1/categories/', for: 'open', answer: '200' },
  { route: 'GET /api/v1/languages/', for: 'open', answer: '200' },
  { route: 'GET /api/v1/projects/:id/files/', for: 'viewer', answer: '200' },
  { route: 'POST /api/v1/projects/:id/files/', for: 'editor', answer: '201' },
  { route: 'GET /api/v1/files/:file_id/', for: 'viewer', answer: '200', params: ofFile },
  // The bytes of the world's file are not stored, so the request asks for an answer without content.
  {
    route: 'GET /api/v1/files/:file_id/content/',
    for: 'viewer',
    answer: '304',
    params: ofFile,
    headers: { 'if-none-match': '*' },
  },
  { route: 'POST /api/v1/files/:file_id/link/', for: 'editor', answer: '201', params: ofFile },
  { route: 'DELETE /api/v1/files/:file_id/', for: 'editor', answer: '204', params: ofFile },
  {
    route: 'GET /api/v1/file-links/:token/',
    for: 'open',
    answer: '403 link_invalid',
    params: () => ({ token: 'none' }),
  },
  { route: 'GET /api/v1/connection-presets/', for: 'open', answer: '200' },
  { route: 'GET /v1/models/', for: 'anyone', answer: '200', keyIn: 'authorization' },

  { route: 'GET /api/v1/services/', for: 'anyone', answer: '200' },
  {
    route: 'GET /api/v1/services/:service_id/actions/',
    for: 'viewer',
    answer: '200',
    params: ofService,
  },
  {
    route: 'GET /api/v1/services/:service_id/actions/:action_id/',
    for: 'viewer',
    answer: '200',
    params: ofAction,
  },
  { route: 'POST /api/v1/projects/:id/services/', for: 'editor', answer: '201', body: () => ({ openapi: OPENAPI }) },
  {
    route: 'PUT /api/v1/projects/:id/services/:service_id/',
    for: 'editor',
    answer: '200',
    params: ofService,
    body: () => ({ openapi: OPENAPI }),
  },
  {
    route: 'DELETE /api/v1/projects/:id/services/:service_id/',
    for: 'editor',
    answer: '204',
    params: ofService,
  },

  { route: 'GET /api/v1/projects/:id/connections/', for: 'editor', answer: '200' },
  {
    route: 'POST /api/v1/projects/:id/connections/',
    for: 'admin',
    answer: '201',
    body: () => ({ name: 'new', kind: 'bearer', origins: ['https://api.example.com'], secrets: { token: 'secret' } }),
  },
  { route: 'GET /api/v1/projects/:id/connections/:connection_id/', for: 'editor', answer: '200', params: ofConnection },
  {
    route: 'PATCH /api/v1/projects/:id/connections/:connection_id/',
    for: 'admin',
    answer: '200',
    params: ofConnection,
    body: () => ({ name: 'other' }),
  },
  {
    route: 'DELETE /api/v1/projects/:id/connections/:connection_id/',
    for: 'admin',
    answer: '204',
    params: ofConnection,
  },
  {
    route: 'GET /api/v1/projects/:id/connections/:connection_id/used-by/',
    for: 'editor',
    answer: '200',
    params: ofConnection,
  },
  {
    route: 'POST /api/v1/projects/:id/connections/:connection_id/test/',
    for: 'editor',
    answer: '200',
    params: ofConnection,
    body: () => ({}),
  },
  {
    route: 'POST /api/v1/projects/:id/connections/:connection_id/authorize/',
    for: 'admin',
    sessionOnly: true,
    answer: '200',
    params: ofConnection,
  },
  { route: 'GET /api/v1/connections/', for: 'anyone', answer: '200', query: () => 'status=needs_authorization' },
  // Without the parameter `state`, the route redirects to the settings.
  { route: 'GET /api/v1/connections/callback/', for: 'open', answer: '303' },

  { route: 'POST /api/v1/projects/:id/webhook-secret/', for: 'admin', answer: '201' },
  { route: 'GET /api/v1/projects/:id/webhook-deliveries/', for: 'viewer', answer: '200' },
  // The world's project has no webhook address: a permitted caller gets this error.
  {
    route: 'POST /api/v1/projects/:id/webhook-deliveries/:delivery_id/send-again/',
    for: 'admin',
    answer: '400 webhook_disabled',
    params: ({ delivery }) => ({ delivery_id: delivery }),
  },
];

/** The only routes that a key of the scope `run` reaches (docs/use/api.md, "Keys of your own"). */
export const RUN_SCOPE: readonly Line['route'][] = [
  'DELETE /api/v1/conversations/:conversation_id/',
  'GET /api/v1/conversations/:conversation_id/',
  'GET /api/v1/conversations/:conversation_id/messages/',
  'GET /api/v1/workflows/:id/conversations/',
  'PATCH /api/v1/conversations/:conversation_id/',
  'POST /api/v1/conversations/:conversation_id/messages/',
  'POST /api/v1/workflows/:id/conversations/',
  'POST /api/v1/workflows/:id/run/',
  'POST /api/v1/workflows/:id/history/:run_id/re-run/',
  'POST /api/v1/workflows/:id/history/:run_id/resume/',
  'GET /api/v1/workflows/workflow_result/',
  'GET /api/v1/workflows/workflow_result/events/',
  'POST /api/v1/workflows/:id/history/:run_id/cancel/',
  'GET /api/v1/workflows/:id/history/',
  'GET /api/v1/workflows/:id/history/:run_id/',
  'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/',
  'GET /api/v1/workflows/:id/history/:run_id/nodes/:node_id/steps/',
  'GET /api/v1/workflows/:id/history/:run_id/iterations/',
  'GET /api/v1/workflows/:id/input-fields/',
  'GET /api/v1/runs/:run_id/',
  'GET /api/v1/me/',
  'GET /api/v1/agent-approvals/',
  'GET /api/v1/agent-approvals/:request_id/',
  'GET /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/',
  'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/approve/',
  'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/reject/',
  'GET /api/v1/human-tasks/',
  'GET /api/v1/human-tasks/:task_id/',
  'POST /api/v1/human-tasks/:task_id/answer/',
  'GET /api/v1/projects/:id/files/',
  'POST /api/v1/projects/:id/files/',
  'GET /api/v1/files/:file_id/',
  'GET /api/v1/files/:file_id/content/',
  'POST /api/v1/files/:file_id/link/',
  'POST /v1/chat/completions/',
  'GET /v1/models/',
  'POST /mcp/',
  'GET /mcp/',
];
