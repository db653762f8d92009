import type { RouteResult } from '../http/route.js';
import { callTool, type Calling } from './call-tool.js';
import { listToolsPage } from './list-tools.js';
import { answerResult, ErrorCode, ProtocolError, type Request } from './messages.js';

/** Any request but `initialize`. Throws `ProtocolError` for one that has no answer. */
export async function answerRequest(calling: Calling, request: Request): Promise<RouteResult> {
  const { id, method, params } = request;
  if (method === 'tools/call') return callTool(calling, request);
  if (method === 'tools/list') return answerResult(id, await listToolsPage(calling.deps, calling.caller, params));
  if (method === 'ping') return answerResult(id, {});
  throw new ProtocolError(ErrorCode.MethodNotFound, 'The server has no such method: it offers tools.');
}
