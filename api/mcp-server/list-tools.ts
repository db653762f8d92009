import { listTools } from '../../db/mcp-server/tools-repository.js';
import type { JsonObject } from '../../graph/json.js';
import { MAX_ID } from '../http/path-ids.js';
import type { RouteResult } from '../http/route.js';
import { callTool } from './call-tool.js';
import type { Calling } from './calling.js';
import { getRunTool } from './get-run.js';
import { ErrorCode, ProtocolError, answerResult, type Request } from './messages.js';
import { answerTaskRequest } from './tasks.js';
import { toTool } from './tool-view.js';

const PAGE_TOOLS = 50;
const CURSOR = /^[1-9]\d{0,9}$/;

/**
 * Returns a page of the tools that the caller may call, ordered by id; the cursor is the last id of the page before.
 * The last page ends with `get_run`.
 */
async function listToolsPage({ deps: { db }, caller, hasTasks }: Calling, { cursor }: JsonObject): Promise<JsonObject> {
  const after = toPlace(cursor);
  const found = await listTools(db, caller, { after, limit: PAGE_TOOLS + 1 });
  const page = found.slice(0, PAGE_TOOLS);
  const last = found.length > PAGE_TOOLS ? page.at(-1) : undefined;
  const tools = page.map((workflow) => toTool(workflow, { hasTasks }));
  return last === undefined ? { tools: [...tools, getRunTool] } : { tools, nextCursor: String(last.id) };
}

function toPlace(cursor: unknown): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === 'string' && CURSOR.test(cursor) && Number(cursor) <= MAX_ID) return Number(cursor);
  throw new ProtocolError(ErrorCode.InvalidParams, 'The cursor is none that a list of tools has given.');
}

/** Answers every request but `initialize`. Throws `ProtocolError` for an unknown method. */
export async function answerRequest(calling: Calling, request: Request): Promise<RouteResult> {
  const { id, method, params } = request;
  if (method === 'tools/call') return callTool(calling, request);
  if (method === 'tools/list') return answerResult(id, await listToolsPage(calling, params));
  if (method === 'ping') return answerResult(id, {});
  const ofTask = await answerTaskRequest(calling, request);
  if (ofTask !== undefined) return ofTask;
  throw new ProtocolError(ErrorCode.MethodNotFound, 'The server has no such method: it offers tools.');
}
