// The transport that `/mcp` and `/mcp/build` share: streamable HTTP of the Model Context Protocol. `initialize` begins
// a session, and each later message names that session.
import { z } from 'zod';
import { badRequestSchema, detailSchema } from '../http/answer-schemas.js';
import type { ApiError } from '../http/errors.js';
import type { Caller, RouteResult } from '../http/route.js';
import type { McpServerDeps } from './deps.js';
import { answerSchema, messageSchema, sessionHeaders } from './message-schemas.js';
import {
  answerError,
  answerResult,
  ErrorCode,
  ProtocolError,
  readMessage,
  type Notification,
  type Request,
} from './messages.js';
import { checkSession, checkVersion, initialize, refuseOtherTypes, type AgreedVersion } from './protocol.js';
import { makeSessionId, toClientName } from './tool-session.js';

/** The parts that the declarations of `POST /mcp/` and `POST /mcp/build/` share. */
export const messageRoute = {
  method: 'POST',
  auth: 'bearer-key',
  audit: { action: 'tool.called', target: 'workflow', records: 'refusals' },
  ownOriginOnly: true,
  answerUnparsed: ({ message }: ApiError) => answerError(null, new ProtocolError(ErrorCode.ParseError, message)),
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
} as const;

interface Received {
  deps: Pick<McpServerDeps, 'secretBox'>;
  caller: Caller;
  headers: z.infer<typeof messageRoute.headers>;
  body: unknown;
}

interface Server {
  /** The text for the model of a client; by default, it explains that each tool is a workflow. */
  instructions?: string;
  answer: (message: Request, sessionId: string, agreed: AgreedVersion) => Promise<RouteResult>;
  /** Handles a notification; absent if the server ignores all notifications. */
  note?: (message: Notification, sessionId: string, agreed: AgreedVersion) => Promise<void>;
}

/**
 * Throws `ApiError` for a refused `Accept`, version or session, and every error of `answer` and `note` except
 * `ProtocolError`, which becomes the answer.
 */
export async function receiveMessage(
  { deps, caller, headers, body }: Received,
  { instructions, answer, note }: Server,
): Promise<RouteResult> {
  refuseOtherTypes(headers.accept);
  let requestId: Request['id'] | null = null;
  try {
    const message = readMessage(body);
    requestId = message.id ?? null;
    if (message.method === 'initialize' && message.id !== undefined) {
      const { client, result } = initialize(message.params, instructions);
      const sessionId = makeSessionId(deps.secretBox, caller, toClientName(client));
      return answerResult(message.id, result, { 'Mcp-Session-Id': sessionId });
    }
    const agreed = checkVersion(headers['mcp-protocol-version']);
    const sessionId = checkSession(deps, caller, headers['mcp-session-id']);
    if (message.id !== undefined) return await answer(message, sessionId, agreed);
    await note?.(message, sessionId, agreed);
    return { status: 202 };
  } catch (error) {
    if (error instanceof ProtocolError) return answerError(requestId, error);
    throw error;
  }
}
