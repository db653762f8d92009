import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { isDeeperThan } from './json-depth.js';
import { deadlineSignal } from './deadline-signal.js';
import { McpError, toMcpError } from './mcp-error.js';
import type { McpSession, McpTool, McpToolResult } from './mcp-types.js';

const LIST_TIMEOUT_MS = 30_000;
const MAX_PAGES = 100;
const MAX_TOOLS = 10_000;
const MAX_LIST_CHARACTERS = 10 * 1024 * 1024;
/** The same depth limit as for JSON from callers. */
const MAX_DEPTH = 200;
/** Our own time-out fires first, so that a time-out is never mistaken for an answer. */
const SDK_TIMEOUT_SLACK_MS = 60_000;

// The schemas are loose: tools are passed on as the server gives them, and a result may hold unknown kinds of parts.
const toolsSchema = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal('object') }) })),
  nextCursor: z.string().nullish(),
});
const resultSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});

/** `close` is called once. `hide` masks secrets in the server's texts. */
export function createSession(client: Client, hide: (text: string) => string, close: () => Promise<void>): McpSession {
  async function ask<T extends z.ZodType>(
    request: { method: string; params: Record<string, unknown> },
    schema: T,
    { signal, deadline, timeoutMs }: { signal: AbortSignal; deadline: AbortSignal; timeoutMs: number },
  ): Promise<z.infer<T>> {
    const stop = new AbortController();
    const abort = (): void => stop.abort('cancelled');
    const either = AbortSignal.any([signal, deadline]);
    signal.throwIfAborted();
    either.addEventListener('abort', abort);
    try {
      const options = { signal: stop.signal, timeout: timeoutMs + SDK_TIMEOUT_SLACK_MS };
      const result = await client.request(request, schema, options);
      if (!isDeeperThan(result, MAX_DEPTH)) return result;
      throw new McpError('mcp_protocol', `The MCP server's answer is nested deeper than ${MAX_DEPTH} levels.`, false);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) {
        throw new McpError('timeout', `No answer of the MCP server within ${timeoutMs / 1000} seconds.`, false);
      }
      throw hidden(toMcpError(error, request.method), hide);
    } finally {
      either.removeEventListener('abort', abort);
    }
  }

  return {
    async listTools(signal) {
      const limits = { signal, deadline: deadlineSignal(LIST_TIMEOUT_MS), timeoutMs: LIST_TIMEOUT_MS };
      return joinPages((cursor) =>
        ask({ method: 'tools/list', params: cursor ? { cursor } : {} }, toolsSchema, limits),
      );
    },
    async callTool(name, args, { timeoutMs, signal }) {
      const request = { method: 'tools/call', params: { name, arguments: args } };
      const deadline = deadlineSignal(timeoutMs);
      return toResult(await ask(request, resultSchema, { signal, deadline, timeoutMs }));
    },
    close,
  };
}

/** A server that repeats a cursor, or never stops returning new ones, violates the protocol. */
async function joinPages(
  readPage: (cursor: string | undefined) => Promise<z.infer<typeof toolsSchema>>,
): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  const seen = new Set<string>();
  let characters = 0;
  for (let cursor: string | undefined; ;) {
    const page = await readPage(cursor);
    characters += JSON.stringify(page.tools).length;
    if (characters > MAX_LIST_CHARACTERS) {
      throw new McpError('response_too_large', 'The tools of the MCP server are larger than 10 MiB.', false);
    }
    for (const tool of page.tools) tools.push(tool);
    if (tools.length > MAX_TOOLS) throw endless(`has more than ${MAX_TOOLS} tools`);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined || cursor === '') return tools;
    if (seen.has(cursor)) throw endless('gives the same page of tools again');
    if (seen.add(cursor).size >= MAX_PAGES) throw endless(`has more than ${MAX_PAGES} pages of tools`);
  }
}

function endless(what: string): McpError {
  return new McpError('mcp_protocol', `The MCP server ${what}.`, false);
}

function toResult({ content, structuredContent, isError }: z.infer<typeof resultSchema>): McpToolResult {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return { content: texts.join('\n'), structuredContent, isError: isError === true, parts: content };
}

export function hidden(error: McpError, hide: (text: string) => string): McpError {
  const message = hide(error.message);
  return message === error.message ? error : new McpError(error.code, message, error.isBeforeSend);
}
