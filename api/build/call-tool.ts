// Answers the requests of assistants: `tools/list`, `tools/call` and `ping`. A refusal by a tool is a result, which the
// model reads.
import { CALL_NAME } from '../../contract/assistant-call.js';
import { cutText } from '../../graph/cut-text.js';
import { isObject, ownValue, type JsonObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import type { Caller, RouteResult } from '../http/route.js';
import { answerResult, ErrorCode, ProtocolError, type Request } from '../mcp-server/messages.js';
import { ANSWER_BYTES, cutBytes } from './cut-answer.js';
import type { BuildDeps } from './deps.js';
import { ToolError, toSentence, type Tool, type ToolContext } from './tool.js';
import { toolsOf } from './tools.js';

export interface Building {
  deps: BuildDeps;
  caller: Caller;
  signal: AbortSignal;
  /** Creates the inner calls of one tool call. `callTool` ends them, which releases the memory of their answers. */
  calls: () => ToolContext['calls'];
}

/** Throws `ProtocolError` for an unknown method or tool, or arguments that are no object. */
export async function answerBuildRequest(building: Building, request: Request): Promise<RouteResult> {
  const { id, method, params } = request;
  const tools = toolsOf(building.caller);
  if (method === 'ping') return answerResult(id, {});
  if (method === 'tools/list') return answerResult(id, { tools: tools.map(({ listed }) => listed) });
  if (method !== 'tools/call')
    throw new ProtocolError(ErrorCode.MethodNotFound, 'The server has no such method: it offers tools.');
  const name = ownValue(params, 'name');
  const sent = ownValue(params, 'arguments') ?? {};
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw unknownTool(name);
  if (!isObject(sent)) throw new ProtocolError(ErrorCode.InvalidParams, 'The arguments of a tool are an object.');
  // `later` runs after the memory of the request is given back, because a test takes long. `sent` is then not counted.
  return { status: 200, later: async () => answerResult(id, await callTool(building, tool, sent, callNameIn(params))) };
}

const MOST_NAME = 100;

function callNameIn(params: JsonObject): string | undefined {
  const name = ownValue(ownValue(params, '_meta'), CALL_NAME);
  return typeof name === 'string' && name.length <= MOST_NAME ? name : undefined;
}

async function callTool(
  { deps, caller, signal, calls: begin }: Building,
  tool: Tool,
  sent: JsonObject,
  callName: string | undefined,
): Promise<JsonObject> {
  const calls = begin();
  try {
    const result = await tool.run({ calls, deps, caller, signal, ...(callName !== undefined && { callName }) }, sent);
    const text = writeJson(result);
    if (Buffer.byteLength(text) > ANSWER_BYTES) throw new ToolError('The answer would be too long. Ask for less.');
    return { content: [{ type: 'text', text }], structuredContent: result };
  } catch (error) {
    return { content: [{ type: 'text', text: cutBytes(toSentence(error), ANSWER_BYTES) }], isError: true };
  } finally {
    calls.end();
  }
}

function unknownTool(name: unknown): ProtocolError {
  const shown = typeof name === 'string' ? cutText(name, 100) : '';
  return new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${shown}`);
}
