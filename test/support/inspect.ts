// A look behind the API: the database's rows and Temporal's decoded history of a run.
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import type { TestStack } from './stack.js';

/** One query on the stack's database. */
export async function queryDatabase<Row>(stack: TestStack, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: stack.stack.database_url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

export interface TransactionRow {
  node_id: string;
  operation: string;
  status: string;
  amount_usd: string;
}

export function transactionsOf(stack: TestStack, runId: string): Promise<TransactionRow[]> {
  const text = 'SELECT node_id, operation, status, amount_usd FROM billing_transactions WHERE run_id = $1';
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

/** All events of all executions of a run (continue-as-new makes several), every payload decoded to readable text. */
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

/** JSON in which bytes are shown as the text that they hold, at any depth. */
export function toText(value: unknown): string {
  return JSON.stringify(withBytesAsText(value));
}

/** A copy first: the messages' own `toJSON` would turn bytes into base64 before anybody could read them. */
function withBytesAsText(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(withBytesAsText);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withBytesAsText(item)]));
}
