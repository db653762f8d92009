// A client of the tools of `/mcp/build`. It counts the calls, and remembers the ids in their answers.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

type Json = Record<string, unknown>;

interface ToolAnswer {
  text: string;
  isError: boolean;
}

export interface Builder {
  tools: Tool[];
  instructions: string;
  calls: number;
  /** The values of `$id`, `$draft`, `$run` and `$project` in recorded calls. */
  known: Json;
  /** Calls a tool. Any error becomes the answer, as a model would get it. */
  use: (tool: string, input: Json) => Promise<ToolAnswer>;
  /** Calls a tool and parses its answer as JSON. Throws if the answer is an error. */
  read: <Answer>(tool: string, input: Json) => Promise<Answer>;
  close: () => Promise<void>;
}

/** Longer than the call that takes the most time: a test of a workflow is answered within 50 seconds. */
const TIMEOUT_MS = 120_000;

export async function connectBuilder(url: string, apiKey: string): Promise<Builder> {
  const client = new Client({ name: 'tasks', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/build`), { requestInit }));
  const { tools } = await client.listTools();
  const builder: Builder = {
    tools,
    instructions: client.getInstructions() ?? '',
    calls: 0,
    known: {},
    async use(name, input) {
      builder.calls += 1;
      try {
        const result = await client.callTool({ name, arguments: input }, undefined, { timeout: TIMEOUT_MS });
        remember(builder.known, result.structuredContent);
        const [part] = result.content as { text?: string }[];
        return { text: part?.text ?? '', isError: result.isError === true };
      } catch (error) {
        return { text: error instanceof Error ? error.message : String(error), isError: true };
      }
    },
    async read<Answer>(tool: string, input: Json) {
      const { text, isError } = await builder.use(tool, input);
      if (isError) throw new Error(`${tool}: ${text}`);
      return JSON.parse(text) as Answer;
    },
    close: () => client.close(),
  };
  return builder;
}

function remember(known: Json, answer: unknown): void {
  const { id, draft, run_id: run } = (answer ?? {}) as Json;
  if (id !== undefined) known['id'] = id;
  if (typeof draft === 'string') known['draft'] = draft;
  if (run !== undefined) known['run'] = run;
}
