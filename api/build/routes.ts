// Lets assistants draw, check and try workflows: streamable HTTP at `/mcp/build` (docs/use/assistants.md).
import { INSTRUCTIONS } from '../../graph/building/instructions.js';
import { routesOf, type Route } from '../http/route.js';
import { messageRoute, receiveMessage } from '../mcp-server/receive-message.js';
import { clientOf } from '../mcp-server/tool-session.js';
import { InnerCalls } from '../dispatch/inner-call.js';
import { answerBuildRequest } from './call-tool.js';
import type { BuildDeps } from './deps.js';

/** The longest bodies hold the changes of a drawing, or the input and the mocks of a test. */
const MOST_BYTES = 2 * 1024 * 1024;

/** `routes` returns all routes of the service, which the tools call. */
export function createBuildRoutes<D extends BuildDeps>(routes: () => readonly Route<D>[]): Route<D>[] {
  const defineRoute = routesOf<D>();

  const send = defineRoute({
    ...messageRoute,
    path: '/mcp/build/',
    isRead: true,
    summary: 'Takes a message of an MCP client that builds workflows.',
    description:
      'Streamable HTTP of the Model Context Protocol, with an API key as a bearer token; keys of the scope `run` are refused, ' +
      'those of `read` have the tools that change nothing. The tools do what the routes do, with the rights of the user: they ' +
      "read and change the user's draft, check it, test it and save it.",
    keyScope: 'read',
    admitsAssistants: true,
    maxBodyBytes: MOST_BYTES,
    handler(request) {
      const { deps, log, caller, signal, tenant, peerAddress, requestHeaders } = request;
      return receiveMessage(request, {
        instructions: INSTRUCTIONS,
        answer(message, sessionId) {
          const assistant = { ...caller, client: caller.client ?? clientOf(deps.secretBox, sessionId) };
          const outer = { caller: assistant, log, tenant, signal, peerAddress, requestHeaders };
          const calls = () => new InnerCalls(routes(), deps, outer);
          return answerBuildRequest({ deps, caller: assistant, signal, calls }, message);
        },
      });
    },
  });

  return [send];
}
