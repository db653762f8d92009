// Agents' requests for approval, and the decisions on them (docs/use/approvers.md).
import { z } from 'zod';
import {
  findRequestInReach,
  listRequestsOfRun,
  listRequestsInReach,
} from '../../db/agents/approval-requests-repository.js';
import { isObject } from '../../graph/json.js';
import { findVisible } from '../access/authorize.js';
import { approvalSchema, toApproval } from './approval-view.js';
import { decide } from './decide-approval.js';
import { documentedAs } from '../http/documented-as.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { uuid } from '../http/path-ids.js';
import type { ApprovalDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';

const defineRoute = routesOf<ApprovalDeps>();

const runPath = '/api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/';
const runParams = z.object({ workflow_run_id: uuid });
const requestId = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => !id.includes('\0'));
const requestParams = z.object({ workflow_run_id: uuid, request_id: requestId });

const decisionSchema = z.object({
  status: z.int(),
  data: z.object({
    id: z.string(),
    request_id: z.string(),
    decision: z.enum(['approved', 'rejected', 'expired', 'pending']).nullable(),
    status: z.string(),
    detail: z.string().optional(),
  }),
});

/** Optional, because a decision needs no body. */
const reason = z.string().max(2000).optional();
const rejection = z.object({ reason });

/** zod does not copy the arguments: all keys, including `__proto__`, are sent as they are. */
const givenArguments = z.unknown().transform((value, context) => {
  if (value === undefined || isObject(value)) return value;
  const message = value === null ? 'This field may not be null.' : 'Expected a JSON object.';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const approval = z.object({
  reason,
  arguments: documentedAs(givenArguments.optional(), {
    type: 'object',
    description: 'What the tool gets instead of what the model has asked for',
  }),
  arguments_hash: z.string().max(200).optional().describe('Of the arguments that you have seen; others are a 409'),
});

const MAX_BODY_BYTES = 1024 * 1024;

interface Decided {
  word: 'approve' | 'reject';
  decision: 'approved' | 'rejected';
  body: typeof approval | typeof rejection;
  description: string;
}

function decisionRoute({ word, decision, body: schema, description }: Decided): Route<ApprovalDeps> {
  return defineRoute({
    method: 'POST',
    path: `${runPath}:request_id/${word}/`,
    summary: `Answers an agent's request: the tool call is ${decision}. The outcome is the inner status (200, 404, 409).`,
    description,
    keyScope: 'run',
    audit: { action: `approval.${decision}`, target: 'approval', id: 'request_id', commits: 'handler' },
    access: { to: 'run', role: 'editor' },
    params: requestParams,
    bodyFormat: 'exact',
    maxBodyBytes: MAX_BODY_BYTES,
    body: schema as typeof approval,
    responses: { 200: decisionSchema },
    async handler({ deps, log, tenant, caller, access, params, body, signal, memory, audit }) {
      const { workflow_run_id: runId, request_id } = params;
      const by = { userId: caller.userId, role: access.role, reason: body.reason ?? '' };
      const seen = { argumentsHash: body.arguments_hash, arguments: body.arguments };
      const asked = { runId, requestId: request_id, decision, ...by, ...seen };
      return {
        status: 200,
        body: await decide(deps, { log, tenant, projectId: access.projectId, signal, memory, audit }, asked),
      };
    },
  });
}

const approve = decisionRoute({
  word: 'approve',
  decision: 'approved',
  body: approval,
  description:
    'While `decision` is `pending`, more people must approve the same arguments. `arguments` must fit the schema of the tool; approvals of earlier arguments do not count for them.',
});
const reject = decisionRoute({
  word: 'reject',
  decision: 'rejected',
  body: rejection,
  description: 'One rejection settles the request, however many have approved it.',
});

const listOfRun = defineRoute({
  method: 'GET',
  path: runPath,
  summary: 'Lists the approval requests of a run, oldest first.',
  keyScope: 'run',
  access: { to: 'run', role: 'viewer' },
  params: runParams,
  responses: { 200: z.array(approvalSchema) },
  async handler({ deps, params }) {
    const requests = await listRequestsOfRun(deps.db, params.workflow_run_id);
    return { status: 200, body: requests.map(toApproval) };
  },
});

const listOfUser = defineRoute({
  method: 'GET',
  path: '/api/v1/agent-approvals/',
  summary: 'Lists the approval requests of all projects that the caller belongs to, newest first.',
  description: '`status=decided`: what a person has approved or rejected.',
  keyScope: 'run',
  query: z.object({
    ...pageQuery(1),
    status: z.enum(['pending', 'approved', 'rejected', 'expired', 'decided']).optional(),
  }),
  responses: { 200: envelopeOf(approvalSchema) },
  async handler({ deps, caller, query }) {
    const wanted = { reach: caller, status: query.status, ...toWindow(query) };
    const { total, requests } = await listRequestsInReach(deps.db, wanted);
    return answerPage(query, total, requests.map(toApproval));
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/agent-approvals/:request_id/',
  summary: 'Returns one approval request of a project that the caller belongs to.',
  keyScope: 'run',
  params: z.object({ request_id: requestId }),
  responses: { 200: approvalSchema },
  async handler({ deps, caller, params }) {
    const request = await findVisible(caller, (reach) => findRequestInReach(deps.db, params.request_id, reach));
    return { status: 200, body: toApproval(request) };
  },
});

export const approvalRoutes: Route<ApprovalDeps>[] = [approve, reject, listOfRun, listOfUser, read];
