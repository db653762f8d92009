// The code node: runs JavaScript of the user in a sandbox (docs/use/code.md).
import { parseJson } from '../../../graph/json-text.js';
import { codeNode, type CodeNodeData } from '../../../graph/nodes/code.js';
import { renderJson } from '../../../graph/template.js';
import type { Logger } from '../../../telemetry/logger.js';
import { isDeeperThan, MAX_RESULT_DEPTH } from '../../../graph/json-depth.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeRunner, NodeOutcome, NodeTask } from '../../node/node-step.js';
import { READING_FACTOR, RECORDING_FACTOR, structureBytes } from '../../node/payload-weight.js';
import type { RunContexts } from '../../node/run-context.js';
import { MAX_OUTPUT_BYTES, MEMORY_BYTES, type Program, type Reply } from './child/messages.js';
import { serveFiles, type CodeFilesDeps } from './code-files.js';
import { toMarkedInputs } from './code-values.js';
import { SandboxProcessError } from './sandbox-process.js';
import type { Sandbox } from './sandbox.js';

const MAX_ATTEMPTS = 4;
const MIB = 1024 * 1024;
/** Counts the inputs as JSON text. */
const MAX_INPUT_BYTES = 8 * MIB;

/** The node fails with these file errors if the code does not catch them. */
const FILE_ERRORS = new Set(['file_encoding', 'file_missing', 'file_too_large', 'invalid_document']);

interface CodeDeps extends CodeFilesDeps {
  contexts: RunContexts;
  sandbox: Sandbox;
  logger: Logger;
}

/**
 * Saving files is the only effect of code outside its sandbox. A retry may save them again, which is accepted: the code
 * is repeated only if this service or its store of files has failed, if the worker was stopped, or if the process was
 * lost or has sent no JSON. Code that has failed is not retried.
 */
export function createCodeRunner({ contexts, sandbox, logger, ...files }: CodeDeps): NodeRunner {
  return {
    isClaimed: true,
    retry: { maxAttempts: MAX_ATTEMPTS, firstDelayMs: 500 },
    async run(task) {
      const data = codeNode.schema.parse(task.node.data);
      const program = await prepare(contexts, data, task);
      const run = { projectId: task.run.projectId, signal: task.signal, serve: serveFiles(files, task) };
      const reply = await sandbox.run(program, run).catch((error: unknown) => {
        if (!(error instanceof SandboxProcessError)) throw error;
        // The error quotes the standard error of the process, to which programs cannot write.
        logger.warn({ run_id: task.runId, node_id: task.nodeId, err: error }, 'a sandbox process was lost');
        throw new NodeFailure('sandbox_failed', 'The process that ran the code was lost.', { isRetryable: true });
      });
      return await toOutcome(reply, data, task);
    },
  };
}

/** Returns only the program, so that the values of its variables do not stay in memory while it runs. */
async function prepare(contexts: RunContexts, data: CodeNodeData, task: NodeTask): Promise<Program> {
  const values = await contexts.loadValues(task, data.inputs);
  const marked = toMarkedInputs(renderJson(data.inputs, values));
  const bytes = Buffer.byteLength(marked.inputs);
  if (bytes > MAX_INPUT_BYTES) {
    throw new NodeFailure('rendered_too_large', `The inputs exceed ${MAX_INPUT_BYTES / MIB} MiB as JSON.`);
  }
  await task.memory.resize(READING_FACTOR * bytes);
  return { ...marked, code: data.code, timeoutMs: data.settings.timeout * 1000 };
}

async function toOutcome(reply: Reply, data: CodeNodeData, task: NodeTask): Promise<NodeOutcome> {
  if (reply.status !== 'returned') throw toFailure(reply, data);
  return { output: await toOutput(reply, task) };
}

function toFailure(reply: Exclude<Reply, Returned>, { settings }: CodeNodeData): NodeFailure {
  if (reply.status === 'failed') {
    const { code = '', message } = reply;
    if (FILE_ERRORS.has(code)) return new NodeFailure(code, message);
    return codeError(reply.line === null ? reply.message : `${reply.message} (line ${reply.line})`);
  }
  if (reply.status === 'timeout') {
    return new NodeFailure('code_timeout', `The code ran longer than ${settings.timeout} s.`);
  }
  if (reply.status === 'memory') {
    return new NodeFailure('code_memory', `The code needed more than ${MEMORY_BYTES / MIB} MiB of memory.`);
  }
  return new NodeFailure('output_too_large', `What the code returned exceeds ${MAX_OUTPUT_BYTES / MIB} MiB as JSON.`);
}

function codeError(message: string): NodeFailure {
  return new NodeFailure('code_error', message);
}

type Returned = Extract<Reply, { status: 'returned' }>;

/** The output holds the returned value twice, as text (`content`) and parsed (`value`). */
async function toOutput({ json, logs }: Returned, { memory }: NodeTask): Promise<NodeOutcome['output']> {
  await memory.resize(2 * RECORDING_FACTOR * json.length + structureBytes(json));
  const value = toValue(json);
  if (isDeeperThan(value, MAX_RESULT_DEPTH)) {
    throw codeError(`What the code returned is nested deeper than ${MAX_RESULT_DEPTH}.`);
  }
  return { content: typeof value === 'string' ? value : json, value, logs };
}

function toValue(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    throw new NodeFailure('sandbox_failed', 'The process that ran the code gave no JSON.', { isRetryable: true });
  }
}
