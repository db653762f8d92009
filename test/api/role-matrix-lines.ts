// Who may do what: one line an endpoint. A route of the registry without a line fails role-matrix.test.ts.
// Specification, "Authentication" and "Other endpoints"; decisions.md sections 1 and 12.
import { chain } from '../support/graphs.js';
import type { Role } from '../../db/core/tables.js';
import type { World } from './role-matrix-world.js';

/** A status, and for a refusal the word in the body's `code`, which tells it from a 400 or 404 of another reason. */
export type Outcome = `${number}` | `${number} ${string}`;

export interface Line {
  /** As the route declares them. */
  route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;
  /** The least role that may. `anyone`: no project is asked for. `internal`: the workers alone. `open`: nobody asks. */
  for: Role | 'anyone' | 'internal' | 'open';
  /** What they get who may. */
  answer: Outcome;
  /** What lesser members get; 403 unless stated. */
  refusal?: Outcome;
  /** What those get who are no members; 404 unless stated. */
  stranger?: Outcome;
  /** Where the key stands in the Authorization header, and a session token is of no use: the chat proxy. */
  keyIn?: 'authorization';
  /** Over the world's own ids: `id` (of the project or workflow), `run_id`, `workflow_run_id`, `request_id`, `slug`. */
  params?: (world: World) => Record<string, string>;
  query?: (world: World) => string;
  body?: (world: World) => object;
}

export const lines: Line[] = [
  { route: 'GET /api/v1/projects/', for: 'anyone', answer: '200' },
  { route: 'POST /api/v1/projects/', for: 'anyone', answer: '201', body: () => ({ name: 'new' }) },
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
  { route: 'GET /api/v1/workflows/get_nodes/', for: 'anyone', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/input-fields/', for: 'viewer', answer: '200' },
  { route: 'GET /api/v1/workflows/:id/check_workflow/', for: 'viewer', answer: '200' },

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
  // The world's run has finished: who may cancel it learns that it is too late.
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
  { route: 'GET /api/v1/agent-approvals/', for: 'anyone', answer: '200' },

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

  { route: 'POST /api/v1/projects/:id/webhook-secret/', for: 'admin', answer: '201' },
  { route: 'GET /api/v1/projects/:id/webhook-deliveries/', for: 'viewer', answer: '200' },
];
