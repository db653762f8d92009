// The MCP node: one call of one tool.
import type { Database } from '../../../db/core/client.js';
import { claimCall, isCallInFlight, markCallRefused } from '../../../db/nodes/provider-calls-repository.js';
import type { Masker } from '../../../graph/mask.js';
import { mcpNode, type McpNodeData } from '../../../graph/nodes/mcp.js';
import { renderJson, type VariableValues } from '../../../graph/template.js';
import { cutText } from '../../../graph/cut-text.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpServer, McpSession, McpToolResult } from '../../../outgoing/mcp-types.js';
import type { MessageSize } from '../../../outgoing/message-size.js';
import type { Logger } from '../../../telemetry/logger.js';
import { NodeFailure } from '../../node/failures.js';
import { persist } from '../../node/record.js';
import { withMarkedNumbers } from '../marked-numbers.js';
import { withServer, type ServerDeps } from './call-server.js';
import { storeResultFiles, type ResultParts } from './result-files.js';
import { linkIn, structuredText } from './result-words.js';
import { toMcpFailure } from './mcp-failure.js';
import { messageBytes } from '../../node/payload-weight.js';
import { renderHeaders } from '../http/request-headers.js';
import type { FileUse } from '../../files/file-use.js';
import type { RunContexts } from '../../node/run-context.js';
import type { NodeRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';

const MAX_ATTEMPTS = 4;
const QUOTED_CHARACTERS = 1_000;

interface McpDeps extends ServerDeps {
  db: Database;
  contexts: RunContexts;
  files: FileUse;
  logger: Logger;
}

/**
 * A tool may have any side effect, so a call is made once. It is claimed before it is sent and not retried if its
 * outcome is unknown, unless the node allows a repetition (`retry_unsafe`). Connecting is retried.
 *
 * If the worker dies while it connects, the next attempt connects again. If it dies while a claimed call is in flight,
 * the next attempt finds the claim and fails with `outcome_unknown`.
 */
export function createMcpRunner({ db, contexts, files, logger, ...servers }: McpDeps): NodeRunner {
  return {
    isClaimed: true,
    retry: { maxAttempts: MAX_ATTEMPTS, firstDelayMs: 500 },
    async run(task) {
      const data = mcpNode.schema.parse(task.node.data);
      const { settings } = data;
      const mayRepeat = settings.retry_unsafe;
      if (!mayRepeat && (await isCallInFlight(db, task))) throw outcomeUnknown();
      const values = await contexts.loadValues(task, { headers: data.headers, arguments: data.arguments });
      const server = toServer(data, values);
      const args = withMarkedNumbers(renderJson(data.arguments, values)) as Record<string, unknown>;
      const { memory, signal } = task;
      const scopeBytes = memory.bytes;
      const reserve = (size: MessageSize) => memory.resize(scopeBytes + messageBytes(size));
      const call = (session: McpSession): Promise<McpToolResult> =>
        session.callTool(data.tool_name, args, { timeoutMs: settings.timeout * 1000, signal, reserve });
      const callOnce = (session: McpSession) => claimed({ db, logger }, task, () => call(session));
      const { connection } = data;
      const hasConnection = connection !== undefined && connection !== null;
      const act = mayRepeat ? call : callOnce;
      const result = await withServer(servers, task, { server, connection }, act).catch((error: unknown) => {
        const isOurs = error instanceof McpError && !task.signal.aborted;
        throw isOurs ? toMcpFailure(error, { mayRepeat, hasConnection }) : error;
      });
      failOnError(result, settings.fail_on_error, task.run.masker);
      return toOutcome(result, await storeResultFiles(files, task, result, data.tool_name));
    },
  };
}

function toServer(data: McpNodeData, values: VariableValues): McpServer {
  return {
    endpointUrl: data.endpoint_url,
    transport: data.transport,
    headers: renderHeaders(data.headers, values),
    timeoutMs: data.timeout * 1000,
  };
}

/**
 * Makes the call under a claim in the ledger. A call that was never sent, or that the server refused without executing
 * it, releases its claim.
 */
async function claimed(
  { db, logger }: Pick<McpDeps, 'db' | 'logger'>,
  task: NodeTask,
  call: () => Promise<McpToolResult>,
): Promise<McpToolResult> {
  const claim = await claimCall(db, { ...task, provider: null, model: null, mayRepeat: false });
  if (!claim.isAllowed) throw outcomeUnknown();
  try {
    return await call();
  } catch (error) {
    if (error instanceof McpError && error.isBeforeSend) {
      await persist({ logger }, task, () => markCallRefused(db, { ...task, attempt: claim.attempts }));
    }
    throw error;
  }
}

function outcomeUnknown(): NodeFailure {
  return new NodeFailure(
    'outcome_unknown',
    'An earlier attempt sent the call and did not record its outcome; whether the tool did its work is unknown, so it is not called again.',
  );
}

function failOnError(result: McpToolResult, failsOnError: boolean, masker: Masker): void {
  if (!result.isError || !failsOnError) return;
  const links = result.parts.flatMap((part) => linkIn(part) ?? []);
  const reported = [result.content, ...links, structuredText(result)].filter((text) => text !== '').join('\n');
  // The text is masked before it is cut, because the masker does not find a secret that was cut in two.
  const quoted = cutText(masker.text(reported), QUOTED_CHARACTERS).trim();
  throw new NodeFailure('tool_error', `The tool reported an error${quoted === '' ? '.' : `: ${quoted}`}`);
}

function toOutcome({ structuredContent, isError }: McpToolResult, { text, files, others }: ResultParts): NodeOutcome {
  const content = text === '' ? files.map(({ name }) => name).join('\n') : text;
  const output = { content, structured_content: structuredContent ?? null, is_error: isError, attachments: others };
  return { output: files.length === 0 ? output : { ...output, files } };
}
