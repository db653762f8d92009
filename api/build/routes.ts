// Lets assistants draw, check and try workflows: streamable HTTP at `/mcp/build`. docs/use/assistants.md.
import { z } from 'zod';
import { badRequestSchema, detailSchema } from '../http/answer-schemas.js';
import { routesOf, type Route } from '../http/route.js';
import {
  answerError,
  answerResult,
  ErrorCode,
  ProtocolError,
  readMessage,
  type Request,
} from '../mcp-server/messages.js';
import { checkSession, checkVersion, initialize, refuseOtherTypes } from '../mcp-server/protocol.js';
import { answerSchema, messageSchema, sessionHeaders } from '../mcp-server/message-schemas.js';
import { clientOf, makeSessionId, toClientName } from '../mcp-server/tool-session.js';
import { InnerCalls } from '../dispatch/inner-call.js';
import { answerBuildRequest } from './call-tool.js';
import type { BuildDeps } from './deps.js';
import { INSTRUCTIONS } from './instructions.js';

/** A body holds the changes of a drawing, or the input of a test. */
const MOST_BYTES = 2 * 1024 * 1024;

/** `routes` returns all routes of the service, which the tools call. */
export function createBuildRoutes<D extends BuildDeps>(routes: () => readonly Route<D>[]): Route<D>[] {
  const defineRoute = routesOf<D>();

  const send = defineRoute({
    method: 'POST',
    path: '/mcp/build/',
    isRead: true,
    summary: 'Takes a message of an MCP client that builds workflows.',
    description:
      'Streamable HTTP of the Model Context Protocol, with an API key as a bearer token; keys of the scope `run` are refused, ' +
      'those of `read` have the tools that change nothing. The tools do what the routes do, with the rights of the user: they ' +
      "read and change the user's draft, check it, test it and save it.",
    auth: 'bearer-key',
    keyScope: 'read',
    audit: { action: 'tool.called', target: 'workflow', records: 'refusals' },
    ownOriginOnly: true,
    maxBodyBytes: MOST_BYTES,
    answerUnparsed: ({ message }) => answerError(null, new ProtocolError(ErrorCode.ParseError, message)),
    headers: sessionHeaders.extend({
      accept: z.string().optional().describe('`application/json` and `text/event-stream`'),
    }),
    body: messageSchema,
    responses: {
      200: answerSchema,
      202: z.null(),
      400: z.union([answerSchema, badRequestSchema]),
      404: detailSchema,
      406: detailSchema,
    },
    answerHeaders: ['Mcp-Session-Id'],
    async handler({ deps, log, caller, headers, body, signal, tenant, peerAddress, requestHeaders }) {
      refuseOtherTypes(headers.accept);
      let requestId: Request['id'] | null = null;
      try {
        const message = readMessage(body);
        requestId = message.id ?? null;
        if (message.method === 'initialize' && message.id !== undefined) {
          const { client, result } = initialize(message.params, INSTRUCTIONS);
          const sessionId = makeSessionId(deps.secretBox, caller, toClientName(client));
          return answerResult(message.id, result, { 'Mcp-Session-Id': sessionId });
        }
        checkVersion(headers['mcp-protocol-version']);
        const sessionId = checkSession(deps, caller, headers['mcp-session-id']);
        if (message.id === undefined) return { status: 202 };
        const assistant = { ...caller, client: clientOf(deps.secretBox, sessionId) };
        const outer = { caller: assistant, log, tenant, signal, peerAddress, requestHeaders };
        return await answerBuildRequest(
          { deps, caller: assistant, signal, calls: () => new InnerCalls(routes(), deps, outer) },
          message,
        );
      } catch (error) {
        if (error instanceof ProtocolError) return answerError(requestId, error);
        throw error;
      }
    },
  });

  return [send];
}
