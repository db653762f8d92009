import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import type { McpExchanges } from './exchanges.js';
import { McpError, toMcpError } from './mcp-error.js';
import { restoreMarkedNumbers } from './exact-numbers.js';
import { isTool } from './mcp-tools.js';
import type { McpSession, McpToolResult } from './mcp-types.js';
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, sizeOf, type MessageSize, type Reserve } from './message-size.js';
import { startDeadline, type PausableDeadline } from './pausable-deadline.js';

/** The time-out for all pages of a list together. */
export const LIST_TIMEOUT_MS = 30_000;
const MAX_PAGES = 100;
const MAX_TOOLS = 10_000;
const MAX_PARTS = 10_000;
/**
 * The time-out of the SDK is our own time-out plus this time, which exceeds the two minutes for which ours may pause.
 * Ours must fire first, because the SDK reports its time-out like an error that the server has answered.
 */
const SDK_TIMEOUT_SLACK_MS = 180_000;

// The schemas are loose, because tools are passed on unchanged and a result may contain unknown kinds of parts. The
// number of parts is checked before the parts, because zod keeps a kilobyte for each invalid one. Tools are not
// validated here.
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
const resultSchema = z.looseObject({
  content: z
    .array(z.unknown())
    .max(MAX_PARTS)
    .pipe(z.array(z.looseObject({ type: z.string() })))
    .default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});

interface Asking {
  signal: AbortSignal;
  /** Pauses while the answer waits for memory. */
  deadline: PausableDeadline;
  timeoutMs: number;
  reserve: Reserve;
}

/**
 * `close` must allow repeated calls. `hide` masks secrets in the messages of errors; tools and results are returned as
 * they are.
 */
export function createSession(
  client: Client,
  exchanges: McpExchanges,
  hide: (text: string) => string,
  close: () => Promise<void>,
  listTimeoutMs = LIST_TIMEOUT_MS,
): McpSession {
  async function ask<T extends z.ZodType>(
    request: { method: string; params: Record<string, unknown> },
    schema: T,
    { signal, deadline, timeoutMs, reserve }: Asking,
  ): Promise<z.infer<T>> {
    const stop = new AbortController();
    const abort = (): void => stop.abort('cancelled');
    signal.throwIfAborted();
    deadline.signal.addEventListener('abort', abort);
    let isOver = false;
    let refusal: unknown;
    const reserveInTime: Reserve = (size) => {
      const granted = isOver ? undefined : reserve(size);
      return granted && deadline.outside(granted.catch((error: unknown) => Promise.reject((refusal = error) as Error)));
    };
    try {
      const options = { signal: stop.signal, timeout: timeoutMs + SDK_TIMEOUT_SLACK_MS };
      const answer = await exchanges.reserving(reserveInTime, () => client.request(request, schema, options));
      return restoreMarkedNumbers(answer);
    } catch (error) {
      signal.throwIfAborted();
      if (refusal !== undefined) throw refusal as Error;
      if (deadline.signal.aborted) {
        throw new McpError('timeout', `No answer of the MCP server within ${timeoutMs / 1000} seconds.`, false);
      }
      throw hidden(toMcpError(error, request.method), hide);
    } finally {
      isOver = true;
      deadline.signal.removeEventListener('abort', abort);
    }
  }

  async function within<T>(asking: Omit<Asking, 'deadline'>, work: (asking: Asking) => Promise<T>): Promise<T> {
    const deadline = startDeadline(asking.timeoutMs, asking.signal);
    try {
      return await work({ ...asking, deadline });
    } finally {
      deadline.clear();
    }
  }

  return {
    listTools(signal, reserve = unlimited) {
      return within({ signal, timeoutMs: listTimeoutMs, reserve }, (asking) =>
        joinPages(asking, (cursor, page) =>
          ask({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, pageSchema, page),
        ),
      );
    },
    callTool(name, args, { timeoutMs, signal, reserve = unlimited, meta }) {
      const params = { name, arguments: args, ...(meta !== undefined && { _meta: meta }) };
      const request = { method: 'tools/call', params };
      return within({ timeoutMs, signal, reserve }, async (asking) =>
        toResult(await ask(request, resultSchema, asking)),
      );
    },
    close,
  };
}

const unlimited: Reserve = () => undefined;

/**
 * All pages together have the limits of one message and share one memory reservation. A server that repeats a cursor,
 * or never stops returning new ones, violates the protocol.
 */
async function joinPages(
  asking: Asking,
  readPage: (cursor: string | undefined, asking: Asking) => Promise<z.infer<typeof pageSchema>>,
): Promise<unknown[]> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let held: MessageSize = { bytes: 0, values: 0 };
  for (let cursor: string | undefined; ;) {
    const before = held;
    const page = await readPage(cursor, { ...asking, reserve: (size) => asking.reserve(sum(before, size)) });
    held = sum(before, sizeOf(page.tools));
    if (held.bytes > MAX_MESSAGE_BYTES || held.values > MAX_MESSAGE_VALUES) {
      const message = `The tools of the MCP server are larger than 10 MiB, or have more than ${MAX_MESSAGE_VALUES} values.`;
      throw new McpError('response_too_large', message, false);
    }
    if (tools.length + page.tools.length > MAX_TOOLS) throw endless(`has more than ${MAX_TOOLS} tools`);
    for (const tool of page.tools) tools.push(tool);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined || cursor === '') {
      if (!isListOfTools(tools)) throw noTools();
      return tools;
    }
    if (seen.has(cursor)) throw endless('gives the same page of tools again');
    if (seen.add(cursor).size >= MAX_PAGES) throw endless(`has more than ${MAX_PAGES} pages of tools`);
  }
}

/** An empty list is a list of tools. Any other one is, if at least one item has a name. */
function isListOfTools(items: unknown[]): boolean {
  return items.length === 0 || items.some(isTool);
}

function noTools(): McpError {
  const message = 'The MCP server answered with a list of tools that does not follow the protocol.';
  return new McpError('mcp_protocol', message, false);
}

function sum(one: MessageSize, other: MessageSize): MessageSize {
  return { bytes: one.bytes + other.bytes, values: one.values + other.values };
}

function endless(what: string): McpError {
  return new McpError('mcp_protocol', `The MCP server ${what}.`, false);
}

function toResult({ content, structuredContent, isError }: z.infer<typeof resultSchema>): McpToolResult {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return { content: texts.join('\n'), structuredContent, isError: isError === true, parts: content };
}

function hidden(error: McpError, hide: (text: string) => string): McpError {
  const message = hide(error.message);
  return message === error.message ? error : error.withMessage(message);
}
