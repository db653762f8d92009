// What a user's projects have used in a span of time. The transactions say how much it cost and when, the ledger of
// provider calls how many model calls and tokens that were. Archived workflows stay in the books.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { isInScope, type Scope } from '../projects/scope.js';
import { isModelCall } from './provider-calls-repository.js';

export type UsageGroup = 'day' | 'project' | 'workflow' | 'model' | 'node_kind';

export interface UsageQuery {
  scope: Scope;
  projectId: number | undefined;
  groupBy: UsageGroup;
  /** The first moment of the span. */
  from: Date;
  /** The first moment after it. */
  until: Date;
}

export interface UsageRow {
  /** A UTC day, an id as text, a model's name (empty where no model was called) or an operation. */
  key: string;
  /** The name of the project or the title of the workflow; else the key. */
  label: string;
  /** Runs with a transaction in the span. */
  runs: number;
  /** Model calls that were answered. */
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** USD, exact decimal. */
  amountUsd: string;
}

interface Grouping {
  key: RawBuilder<string>;
  label?: RawBuilder<string>;
  /** Joined for the key. */
  from?: RawBuilder<unknown>;
}

// Models are named by users.
const MODEL = sql<string>`left(coalesce(used.model, ''), 200)`;

const GROUPINGS: Record<UsageGroup, Grouping> = {
  day: { key: sql`to_char(paid.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')` },
  project: { key: sql`project.id::text`, label: sql`project.name` },
  workflow: {
    key: sql`workflow.id::text`,
    label: sql`workflow.title`,
    from: sql`JOIN runs run ON run.id = paid.run_id JOIN workflows workflow ON workflow.id = run.workflow_id`,
  },
  model: { key: MODEL },
  node_kind: { key: sql`paid.operation` },
};

/** Days in their order, everything else by what it cost, the most expensive first. */
export async function readUsage(db: Db, query: UsageQuery): Promise<UsageRow[]> {
  const { scope, projectId, groupBy, from, until } = query;
  const { key, label = key, from: joined = sql`` } = GROUPINGS[groupBy];
  const order = groupBy === 'day' ? sql`key` : sql`sum(paid.amount_usd) DESC, key`;
  const isProject = projectId === undefined ? sql`` : sql`AND project.id = ${projectId}`;
  const { rows } = await sql<UsageRow>`
    SELECT ${key} AS key, ${label} AS label, count(DISTINCT paid.run_id) AS runs, sum(used.calls)::bigint AS calls,
      ${countOf('input')} AS "inputTokens", ${countOf('output')} AS "outputTokens", sum(paid.amount_usd) AS "amountUsd"
    FROM project_members member
    JOIN projects project ON project.id = member.project_id AND project.deleted_at IS NULL
    JOIN billing_transactions paid
      ON paid.project_id = project.id AND paid.created_at >= ${from} AND paid.created_at < ${until}
    ${joined}
    CROSS JOIN LATERAL (
      SELECT count(*) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output, max(model) AS model
      FROM provider_calls call
      WHERE call.run_id = paid.run_id AND call.path = paid.path AND call.node_id = paid.node_id
        AND ${isModelCall} AND call.state = 'applied'
    ) AS used
    WHERE member.user_id = ${scope.userId} AND ${isInScope('member.project_id', scope)} ${isProject}
    GROUP BY 1, 2 ORDER BY ${order}`.execute(db);
  return rows;
}

/** What providers report has no bound, but an integer of JSON has one. */
function countOf(tokens: 'input' | 'output'): RawBuilder<number> {
  return sql`least(coalesce(sum(${sql.ref(`used.${tokens}`)}), 0), ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`;
}
