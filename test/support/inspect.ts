// Access to the state behind the API: the database's rows and Temporal's decoded history of a run.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pg from 'pg';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { TestStack } from '../../harness/stack/stack.js';

/** The pools by the address of the database. Their connections close when idle, and do not keep the process alive. */
const pools = new Map<string, pg.Pool>();

/** Runs one query on the stack's database. */
export async function queryDatabase<Row>(stack: TestStack, text: string, values: unknown[] = []): Promise<Row[]> {
  const { database_url: connectionString } = stack.stack;
  let pool = pools.get(connectionString);
  if (pool === undefined) {
    pool = new pg.Pool({ connectionString, max: 4, idleTimeoutMillis: 1_000, allowExitOnIdle: true });
    // Tests kill databases, which breaks idle connections. The pool drops them.
    pool.on('error', () => undefined);
    pools.set(connectionString, pool);
  }
  return (await pool.query(text, values)).rows as Row[];
}

/**
 * Returns the tables with a row that contains any of these texts. The database searches, because the rows of all tests
 * are too many to be read here.
 */
export async function tablesWith(stack: TestStack, tables: string[], texts: string[]): Promise<string[]> {
  const found = await Promise.all(
    tables.map(async (table) => {
      const text = `SELECT FROM (SELECT t::text AS row FROM ${table} AS t OFFSET 0) AS rows
        WHERE EXISTS (SELECT FROM unnest($1::text[]) AS wanted WHERE strpos(rows.row, wanted) > 0) LIMIT 1`;
      return (await queryDatabase(stack, text, [texts])).length > 0 ? table : [];
    }),
  );
  return found.flat();
}

export interface TransactionRow {
  path: string;
  node_id: string;
  operation: string;
  status: string;
  amount_usd: string;
  is_estimated: boolean;
}

export function transactionsOf(stack: TestStack, runId: string): Promise<TransactionRow[]> {
  const text =
    'SELECT path, node_id, operation, status, amount_usd, is_estimated FROM billing_transactions WHERE run_id = $1';
  return queryDatabase<TransactionRow>(stack, text, [runId]);
}

export async function withTemporal<T>(stack: TestStack, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: stack.stack.temporal_address });
  try {
    return await use(new Client({ connection, namespace: stack.stack.temporal_namespace }));
  } finally {
    await connection.close();
  }
}

export interface HistoryEvent {
  type: string;
  text: string;
}

/**
 * All events of all executions of a run (continue-as-new makes several), with every payload decoded to readable text.
 */
export function historyOf(stack: TestStack, runId: string): Promise<HistoryEvent[]> {
  return withTemporal(stack, async (client) => {
    const events: HistoryEvent[] = [];
    let executionId: string | undefined = (await client.workflow.getHandle(runId).describe()).runId;
    for (; executionId !== undefined;) {
      const history = await client.workflow.getHandle(runId, executionId).fetchHistory();
      let previous: string | undefined;
      for (const event of history.events ?? []) {
        previous ??= event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
        const type = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? 'unknown';
        events.push({ type: type.replace('EventAttributes', ''), text: toText(event) });
      }
      executionId = previous === '' ? undefined : previous;
    }
    return events;
  });
}

/** Returns JSON in which bytes are shown as text, at any depth. */
export function toText(value: unknown): string {
  return JSON.stringify(withBytesAsText(value));
}

/** Copies the value first, because the messages' own `toJSON` would turn bytes into base64. */
function withBytesAsText(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(withBytesAsText);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withBytesAsText(item)]));
}

const CLOSED = /^workflowExecution(Completed|Failed|Canceled|TimedOut|Terminated)$/;

/**
 * Returns the types of the activities of a run that has ended. Waits until the workflow is closed, because the end is
 * reported before Temporal has the results of the last local activities.
 */
export async function activitiesOf(stack: TestStack, runId: string): Promise<{ local: string[]; normal: string[] }> {
  const events = await eventually(async () => {
    const known = await historyOf(stack, runId);
    return known.some(({ type }) => CLOSED.test(type)) && known;
  });
  const typesIn = (event: string) =>
    events
      .filter(({ type }) => type === event)
      .map(({ text }) => /"?activity_?[tT]ype\\?"?:\s?\{?\\?"?(?:name\\?"?:\s?\\?")?(\w+)/.exec(text)?.[1] ?? text);
  return { local: typesIn('markerRecorded'), normal: typesIn('activityTaskScheduled') };
}

/** Resets a finished run to its first step, as an operator does; resolves when it has completed again. */
export async function reset(stack: TestStack, runId: string): Promise<void> {
  await withTemporal(stack, async (client) => {
    const finished = await eventually(async () => {
      const found = await client.workflow.getHandle(runId).describe();
      return found.status.name === 'COMPLETED' && found;
    });
    const { events } = await client.workflow.getHandle(runId).fetchHistory();
    const firstTask = events?.find((event) => event.workflowTaskStartedEventAttributes);
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: runId, runId: finished.runId },
      workflowTaskFinishEventId: firstTask?.eventId ?? null,
      reason: 'test',
      requestId: randomUUID(),
    });
    await eventually(async () => {
      const { runId: execution, status } = await client.workflow.getHandle(runId).describe();
      if (status.name === 'FAILED') throw new Error('it failed');
      return execution !== finished.runId && status.name === 'COMPLETED';
    });
  });
}

/**
 * Makes Temporal time out an activity, which it would do after a day. Shortens the time-out of this activity, as an
 * operator can; it stays longer than three heartbeats.
 */
export async function giveUpOn(stack: TestStack, runId: string, activityId: string): Promise<void> {
  await withTemporal(stack, (client) =>
    client.workflowService.updateActivityOptions({
      namespace: client.options.namespace,
      execution: { workflowId: runId },
      id: activityId,
      activityOptions: { scheduleToCloseTimeout: msToTs(7_000) },
      updateMask: { paths: ['schedule_to_close_timeout'] },
    }),
  );
}

/**
 * Cancels a run by its id alone. Returns the id of its workflow. `api`: a client of a user who may cancel it; the
 * stack's user by default.
 */
export async function cancelRun(
  stack: TestStack,
  runId: string,
  api = createApiClient(stack.apiUrl, stack.apiKey),
): Promise<number> {
  const text = 'SELECT workflow_id AS id FROM runs WHERE id = $1';
  const [workflow] = await queryDatabase<{ id: number }>(stack, text, [runId]);
  const { status } = await api.post(`/workflows/${workflow!.id}/history/${runId}/cancel/`);
  if (status !== 200) throw new Error(`the cancel was answered with ${status}`);
  return workflow!.id;
}
