// The usage of a user's projects in a span of time. Costs come from the transactions, model calls and tokens from the
// ledgers of provider calls and of the chat proxy. Archived workflows are included, because they stay in the books.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { isInReach, type Reach } from '../access/reach.js';
import { isModelCall } from '../nodes/provider-calls-repository.js';

export type UsageGroup = 'day' | 'project' | 'workflow' | 'model' | 'node_kind';

interface UsageQuery {
  reach: Reach;
  projectId: number | undefined;
  groupBy: UsageGroup;
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  until: Date;
}

export interface UsageRow {
  /** A UTC day; an id as text, empty without one; a model's name, empty without a model call; or an operation. */
  key: string;
  /** The name of the project or the title of the workflow; else the same as `key`. */
  label: string;
  /** Runs with a transaction in the span. */
  runs: number;
  /**
   * Model calls that were answered, or cut off after they were sent. Of the chat proxy, those that succeeded or were
   * charged.
   */
  calls: number;
  /** Calls for which the provider has not reported both counts of tokens. */
  estimatedCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** USD, exact decimal. */
  amountUsd: string;
}

interface Grouping {
  key: RawBuilder<string>;
  label?: RawBuilder<string>;
  /** The join that `key` needs. */
  from?: RawBuilder<unknown>;
}

// Users choose the names of models, so the names may be long.
const MODEL = sql<string>`left(coalesce(used.model, ''), 200)`;

const GROUPINGS: Record<UsageGroup, Grouping> = {
  day: { key: sql`to_char(paid.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')` },
  project: { key: sql`coalesce(paid.project_id::text, '')`, label: sql`coalesce(paid.project_name, '')` },
  workflow: {
    key: sql`coalesce(workflow.id::text, '')`,
    label: sql`coalesce(workflow.title, '')`,
    from: sql`LEFT JOIN LATERAL (
      SELECT workflow.id, workflow.title FROM runs AS run JOIN workflows AS workflow ON workflow.id = run.workflow_id
      WHERE run.id = paid.run_id OFFSET 0) AS workflow ON true`,
  },
  model: { key: MODEL },
  node_kind: { key: sql`paid.operation` },
};

/**
 * Orders days by date, and everything else by cost, the most expensive first. Calls of the chat proxy outside projects
 * are their user's own: they are included unless the query or the API key is restricted to a project. `OFFSET 0` makes
 * PostgreSQL use the indexes; its planner would overestimate a project's share of the table.
 */
export async function readUsage(db: Db, query: UsageQuery): Promise<UsageRow[]> {
  const { reach, projectId, groupBy, from, until } = query;
  const { key, label = key, from: joined = sql`` } = GROUPINGS[groupBy];
  const order = groupBy === 'day' ? sql`key` : sql`sum(paid.amount_usd) DESC, key`;
  const isProject = projectId === undefined ? sql`` : sql`AND project.id = ${projectId}`;
  const withOwn = projectId === undefined && reach.projectId === undefined;
  const inSpan = sql`paid.created_at >= ${from} AND paid.created_at < ${until}`;
  const { rows } = await sql<UsageRow>`
    WITH paid AS (
      SELECT paid.*, project.name AS project_name
      FROM project_members member
      JOIN projects project ON project.id = member.project_id AND project.deleted_at IS NULL
      CROSS JOIN LATERAL (
        SELECT * FROM billing_transactions paid WHERE paid.project_id = project.id AND ${inSpan} OFFSET 0) AS paid
      WHERE member.user_id = ${reach.userId} AND ${isInReach('member.project_id', reach)} ${isProject}
      UNION ALL
      SELECT paid.*, NULL FROM billing_transactions paid
      WHERE ${withOwn}::boolean AND paid.user_id = ${reach.userId} AND paid.project_id IS NULL AND paid.run_id IS NULL
        AND ${inSpan}
    )
    SELECT ${key} AS key, ${label} AS label, count(DISTINCT paid.run_id) AS runs, sum(used.calls)::bigint AS calls,
      sum(used.estimated)::bigint AS "estimatedCalls",
      ${countOf('input')} AS "inputTokens", ${countOf('output')} AS "outputTokens", sum(paid.amount_usd) AS "amountUsd"
    FROM paid
    ${joined}
    CROSS JOIN LATERAL (
      SELECT count(*) AS calls, count(*) FILTER (
          WHERE is_estimated OR (input_tokens IS NULL AND coalesce(price_usd, 0) = 0)) AS estimated,
        sum(input_tokens) AS input, sum(output_tokens) AS output, max(model) AS model
      FROM provider_calls call
      WHERE call.run_id = paid.run_id AND call.path = paid.path
        AND call.node_id = paid.node_id AND ${isModelCall} AND call.state IN ('applied', 'cut')
      HAVING paid.operation <> 'chat'
      UNION ALL
      SELECT is_call::integer, (is_call AND paid.is_estimated)::integer, input_tokens, output_tokens, model
      FROM chat_calls call, LATERAL (SELECT paid.status = 'Succeeded' OR paid.amount_usd > 0 AS is_call) AS answered
      WHERE paid.operation = 'chat' AND call.id = paid.id
    ) AS used
    GROUP BY 1, 2 ORDER BY ${order}`.execute(db);
  return rows;
}

/** Counts of providers are untrusted, so their sum is limited to the largest safe integer of JavaScript. */
function countOf(tokens: 'input' | 'output'): RawBuilder<number> {
  return sql`least(coalesce(sum(${sql.ref(`used.${tokens}`)}), 0), ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`;
}
