// Reads histories of runs from a Temporal server, or from a file with the output of `temporal workflow
// show --output json`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { WorkflowNotFoundError, type Client, type HistoryAndWorkflowId } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { RUN_WORKFLOW_TYPE } from '../../contract/run-workflow.js';
import { SCHEDULED_RUN_TYPE } from '../../contract/scheduled-run.js';
import { StartError } from '../embedded/start-error.js';

/**
 * Yields the executions of a run that Temporal still has, newest first; continue-as-new creates several. Throws
 * WorkflowNotFoundError if it has none.
 */
export async function* historiesOfRun(client: Client, workflowId: string): AsyncGenerator<HistoryAndWorkflowId> {
  let isFirst = true;
  let executionId: string | undefined = (await client.workflow.getHandle(workflowId).describe()).runId;
  while (executionId !== undefined) {
    let history: History;
    try {
      history = await client.workflow.getHandle(workflowId, executionId).fetchHistory();
    } catch (error) {
      // Retention has deleted this execution and all earlier ones.
      if (!isFirst && error instanceof WorkflowNotFoundError) return;
      throw error;
    }
    yield { workflowId, history };
    isFirst = false;
    executionId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  }
}

/**
 * Yields up to `limit` executions of runs and schedules that a visibility query finds: first the open ones, by their
 * start, then the closed ones, by their end, the latest first. Skips those that retention deletes meanwhile.
 */
export async function* historiesByQuery(
  client: Client,
  query: string,
  limit = Infinity,
): AsyncGenerator<HistoryAndWorkflowId> {
  const ofOurs = `WorkflowType IN ('${RUN_WORKFLOW_TYPE}', '${SCHEDULED_RUN_TYPE}')`;
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({
    query: query.trim() === '' ? ofOurs : `${ofOurs} AND (${query})`,
  })) {
    if (count === limit) return;
    try {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      count++;
      yield { workflowId, history };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}

/** Throws StartError if the file cannot be read or contains no history. */
export function readHistoryFile(file: string): HistoryAndWorkflowId {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartError(`${file}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${message})`}.`);
  }
  try {
    const history = parseHistory(JSON.parse(text));
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    if (started) return { workflowId: started.workflowId || started.originalExecutionRunId || file, history };
  } catch {
    // The error below covers text that is not JSON and JSON that is not a history.
  }
  throw new StartError(`${file}: is not a workflow history in JSON (temporal workflow show --output json).`);
}

interface ProtoJson {
  fromJson: (type: object, json: unknown, options: { ignoreUnknownFields: boolean }) => History;
  toJson: (type: object, message: History) => unknown;
}

interface ProtoRoot {
  lookupType: (name: string) => { fromObject: (message: object) => History };
}

// The SDK's own historyFromJSON and historyToJSON ("@temporalio/common/lib/proto-utils") throw "type must be a Type" if
// npm has installed separate copies of protobufjs for @temporalio/common and @temporalio/proto, as it does here. The
// code below uses the copy that created the types, which works in any layout.
const fromCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'));
const fromProto = createRequire(fromCommon.resolve('@temporalio/proto'));
const protoJson = fromProto('protobufjs/ext/protojson') as ProtoJson;
const { patchProtobufRoot } = fromCommon('@temporalio/proto/lib/patch-protobuf-root') as {
  patchProtobufRoot: (root: unknown) => ProtoRoot;
};
const historyType = patchProtobufRoot(fromCommon('@temporalio/proto')).lookupType('temporal.api.history.v1.History');

/** Throws if a field of a history has another type. Drops unknown fields, such as those of a newer server. */
function parseHistory(json: unknown): History {
  return protoJson.fromJson(historyType, json, { ignoreUnknownFields: true });
}

export function historyToJson(history: History): { events: Record<string, unknown>[] } {
  return protoJson.toJson(historyType, historyType.fromObject(history)) as { events: Record<string, unknown>[] };
}
