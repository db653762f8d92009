// An assistant that uses the official MCP client, counts its calls, and adds up the bytes of their results.
import assert from 'node:assert/strict';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../../graph/json.js';
import { call, connectOfficial, textOf, type CallToolResult } from '../mcp-server/mcp-clients.js';

/** The limit on the size of one answer. */
const ANSWER_BYTES = 25 * 1024;

export interface Assistant {
  tools: Tool[];
  instructions: string;
  calls: number;
  bytes: number;
  /** Returns the answer of the tool. Fails if the tool refuses. */
  use<Answer = JsonObject>(tool: string, input?: JsonObject): Promise<Answer>;
  /** Returns the text of the refusal. Fails if the tool answers. */
  refused(tool: string, input?: JsonObject): Promise<string>;
  close(): Promise<void>;
}

export async function connectAssistant(apiUrl: string, apiKey: string, name = 'test assistant'): Promise<Assistant> {
  const official = await connectOfficial(apiUrl, apiKey, { path: '/mcp/build', name });
  // The client validates answers by the schemas of the tools that it has listed.
  const { tools } = await official.client.listTools();
  const ask = async (tool: string, input: JsonObject): Promise<CallToolResult> => {
    const result = await call(official, tool, input);
    const bytes = Buffer.byteLength(textOf(result));
    assistant.calls += 1;
    assistant.bytes += bytes;
    assert.ok(bytes <= ANSWER_BYTES, `${tool} answered ${bytes} bytes`);
    return result;
  };
  const assistant: Assistant = {
    tools,
    instructions: official.client.getInstructions() ?? '',
    calls: 0,
    bytes: 0,
    async use<Answer>(tool: string, input: JsonObject = {}) {
      const result = await ask(tool, input);
      assert.notEqual(result.isError, true, `${tool}: ${textOf(result)}`);
      assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent);
      return result.structuredContent as Answer;
    },
    async refused(tool, input = {}) {
      const result = await ask(tool, input);
      assert.equal(result.isError, true, textOf(result));
      return textOf(result);
    },
    close: () => official.client.close(),
  };
  return assistant;
}

export interface Edited {
  id: number;
  draft: string;
  check: {
    is_valid: boolean;
    error_count: number;
    errors: { node_id: string | null; path?: string; message: string }[];
    warning_count: number;
    warnings: { code: string; message: string }[];
  };
  url: string;
}

export interface ShownRun {
  run_id: string;
  status: string;
  cost: Record<string, string>;
  nodes: {
    id: string;
    status: string;
    mocked?: true;
    is_cut?: true;
    error?: { code: string; message: string };
    waiting?: { for: string };
    result?: JsonObject | string;
  }[];
  next_offset?: number;
  part?: { value?: unknown; text?: string; total?: number; next_offset?: number };
}
