// Offers workflows as tools to MCP clients: streamable HTTP at `/mcp`. docs/use/mcp.md.
import { z } from 'zod';
import { findRunRole } from '../../db/projects/members-repository.js';
import { findKeyedRun } from '../../db/runs/idempotency-repository.js';
import { findToolFacts } from '../../db/mcp-server/tools-repository.js';
import { detailSchema } from '../http/answer-schemas.js';
import { ApiError, orNotFound, overloaded } from '../http/errors.js';
import type { McpServerDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { answerRequest } from './list-tools.js';
import { cancelCall } from './cancel-call.js';
import { sessionHeaders } from './message-schemas.js';
import { checkSession, checkVersion, type AgreedVersion } from './protocol.js';
import { messageRoute, receiveMessage } from './receive-message.js';
import { parseEventId, streamCall } from './stream-call.js';
import { toCallKey } from './tool-session.js';
import { toolFactsSchema, toToolFacts } from './tool-view.js';

const defineRoute = routesOf<McpServerDeps>();

const send = defineRoute({
  ...messageRoute,
  path: '/mcp/',
  isRead: true,
  summary: 'Takes a message of an MCP client, to which workflows are offered as tools.',
  description:
    'Streamable HTTP of the Model Context Protocol, with the API key as a bearer token. `tools/list` has every workflow with ' +
    '`is_tool` that the user of the key may run. `tools/call` runs one: the answer is a stream of events, which ends with ' +
    'the result; with `task` (from 2025-11-25 on) it is answered at once, and `tasks/get`, `tasks/result`, `tasks/list` and ' +
    '`tasks/cancel` take the id of the run. A notification is answered with 202. 404: the session is not one of this key; begin another one.',
  bodyFormat: 'exact',
  mediaTypes: { 200: ['application/json', 'text/event-stream'] },
  handler(request) {
    const { deps, log, caller, tenant, memory, signal, audit } = request;
    const callingOf = (sessionId: string, agreed: AgreedVersion) => {
      return { deps, log, caller, tenant, memory, sessionId, ...agreed, signal, doer: audit.doer };
    };
    return receiveMessage(request, {
      answer: (message, ...session) => answerRequest(callingOf(...session), message),
      async note({ method, params }, ...session) {
        if (method === 'notifications/cancelled') await cancelCall(callingOf(...session), params);
      },
    });
  },
});

const resume = defineRoute({
  method: 'GET',
  path: '/mcp/',
  summary: 'Streams the rest of the answer to a tool call, for a client that has lost its connection.',
  description:
    '`Last-Event-ID` names the last event that was received. Without it 405: the server sends nothing that no call asked for.',
  auth: 'bearer-key',
  ownOriginOnly: true,
  headers: sessionHeaders.extend({
    'last-event-id': z.string().optional().describe('The `id` of the last event that was received'),
  }),
  responses: { 200: z.string(), 404: detailSchema, 405: detailSchema },
  mediaTypes: { 200: ['text/event-stream'] },
  async handler({ deps, caller, headers, signal }) {
    const lastEventId = headers['last-event-id'];
    if (lastEventId === undefined || lastEventId === '') {
      const message = 'The server sends nothing that no call asked for.';
      throw new ApiError(405, 'method_not_allowed', message, { headers: { Allow: 'POST, OPTIONS' } });
    }
    const { takesFirstEvent } = checkVersion(headers['mcp-protocol-version']);
    const sessionId = checkSession(deps, caller, headers['mcp-session-id']);
    const call = parseEventId(lastEventId);
    const named = call?.ofRun;
    const keyed = call && (await findKeyedRun(deps.db, toCallKey(caller, sessionId, call.requestId)));
    const runId = named ?? keyed?.runId;
    const role = runId && (await findRunRole(deps.db, runId, caller));
    if (call === undefined || runId === undefined || role === undefined) {
      throw new ApiError(400, 'invalid', 'Last-Event-ID names no call of this session.');
    }
    if (deps.runHub.isFullFor(caller.userId)) throw overloaded();
    return streamCall(deps, { ...call, runId, reader: caller, takesFirstEvent, signal });
  },
});

const facts = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/tool/',
  summary: 'Returns the workflow as MCP clients see it if it is offered as a tool (`is_tool`).',
  access: { to: 'workflow', role: 'viewer' },
  responses: {
    200: toolFactsSchema.extend({
      is_tool: z.boolean(),
      url: z.url().describe('Where MCP clients connect to, with an API key as bearer token'),
    }),
  },
  async handler({ deps, caller, params }) {
    const workflow = orNotFound(await findToolFacts(deps.db, caller, params.id));
    return {
      status: 200,
      body: { ...toToolFacts(workflow), is_tool: workflow.is_tool, url: `${deps.config.publicUrl}/mcp` },
    };
  },
});

export const toolRoutes: Route<McpServerDeps>[] = [send, resume, facts];
