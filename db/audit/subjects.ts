// The objects that are changed, as the audit log shows them.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { TargetState } from './changes.js';

/** Names one object; `projectId` only where its id alone does not. */
export interface TargetKey {
  id: string | number;
  projectId?: number | undefined;
  workflowId?: number | undefined;
}

interface FoundTarget extends TargetState {
  name: string;
  /** Null if it belongs to no project. */
  projectId: number | null;
}

const hashOf = (column: string): RawBuilder<unknown> => sql`encode(sha256(${sql.ref(column)}), 'hex')`;
const NONE = sql`'{}'::jsonb`;

/**
 * The statement that finds an object of the type; none for one that was deleted. `secrets` holds hashes, by which a change is
 * noticed, and which are never shown.
 */
const FIND = {
  project: ({ id }: TargetKey) => sql`
    SELECT name, id AS project_id, jsonb_build_object('name', name, 'webhook_url', webhook_url,
        'is_webhook_enabled', is_webhook_enabled, 'spending_limit', CASE WHEN spending_limit_usd IS NOT NULL
          THEN jsonb_build_object('amount', spending_limit_usd::text, 'period', spending_period) END) AS fields,
      jsonb_build_object('webhook_secret', ${hashOf('webhook_secret_enc')}) AS secrets
    FROM projects WHERE id = ${id} AND deleted_at IS NULL`,
  member: ({ id, projectId }: TargetKey) => sql`
    SELECT users.name, project_id, jsonb_build_object('role', role) AS fields, ${NONE} AS secrets
    FROM project_members JOIN users ON users.id = user_id WHERE user_id = ${id} AND project_id = ${projectId ?? 0}`,
  provider_key: ({ id }: TargetKey) => sql`
    SELECT name, project_id, jsonb_build_object('provider', provider, 'name', name) AS fields,
      jsonb_build_object('key', ${hashOf('key_enc')}) AS secrets
    FROM provider_keys WHERE id = ${id}`,
  key: ({ id }: TargetKey) => sql`
    SELECT label AS name, project_id, jsonb_build_object('user', user_id, 'label', label, 'project', project_id,
        'scope', scope, 'expires_at', expires_at, 'rate_limit', rate_limit) AS fields,
      jsonb_build_object('api_key', ${hashOf('key_hash')}) AS secrets
    FROM api_keys WHERE id = ${id}`,
  user: ({ id }: TargetKey) => sql`
    SELECT name, NULL::integer AS project_id, jsonb_build_object('name', name, 'email', email, 'api_access', api_access,
        'is_admin', is_admin, 'is_active', is_active) AS fields,
      jsonb_build_object('password', (SELECT encode(sha256(convert_to(hash, 'UTF8')), 'hex') FROM user_passwords
        WHERE user_id = users.id)) AS secrets
    FROM users WHERE id = ${id}`,
  session: ({ id }: TargetKey) => sql`
    SELECT users.name, NULL::integer AS project_id, jsonb_build_object('user', user_id, 'method', method) AS fields, ${NONE} AS secrets
    FROM sessions JOIN users ON users.id = user_id
    WHERE sessions.id = ${id} AND ended_at IS NULL AND expires_at > now()`,
  // The record of a drawing has its version, and not its contents.
  workflow: ({ id }: TargetKey) => sql`
    SELECT title AS name, project_id, jsonb_build_object('title', title, 'data', version, 'sort_id', sort_id,
        'market_title', market_title, 'short_description', short_description, 'readme_guide', readme_guide,
        'available_languages', available_languages, 'run_fee', run_fee_usd::text,
        'free_runs_per_user', free_runs_per_user, 'max_run_cost', max_run_cost_usd::text, 'is_published', is_published,
        'is_tool', is_tool, 'is_chat', is_chat, 'categories', coalesce((SELECT jsonb_agg(category_id ORDER BY category_id)
          FROM workflow_categories WHERE workflow_id = workflows.id), '[]')) AS fields,
      ${NONE} AS secrets
    FROM workflows WHERE id = ${id} AND archived_at IS NULL`,
  hook: ({ id }: TargetKey) => sql`
    SELECT workflows.title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'verify', verify,
        'header', header, 'author', hooks.author_id) AS fields,
      jsonb_build_object('secret', ${hashOf('secret_enc')}) AS secrets
    FROM hooks JOIN workflows ON workflows.id = workflow_id WHERE hooks.id = ${id}`,
  file: ({ id }: TargetKey) => sql`
    SELECT name, project_id, jsonb_build_object('name', name, 'type', type, 'size', size) AS fields, ${NONE} AS secrets
    FROM files WHERE id = ${id} AND copy_id IS NOT NULL`,
  connection: ({ id }: TargetKey) => sql`
    SELECT name, project_id, jsonb_build_object('name', name, 'kind', kind, 'origins', origins, 'settings', settings::jsonb,
        'account', account) AS fields,
      jsonb_build_object('secrets', ${hashOf('secrets_enc')}, 'tokens', ${hashOf('tokens_enc')}) AS secrets
    FROM connections WHERE id = ${id}`,
  conversation: ({ id }: TargetKey) => sql`
    SELECT title AS name, project_id, jsonb_build_object('title', title, 'workflow', workflow_id, 'author', author_id,
        'user', end_user) AS fields, ${NONE} AS secrets
    FROM conversations WHERE id = ${id}`,
  case: ({ id }: TargetKey) => sql`
    SELECT name, project_id, jsonb_build_object('name', name, 'workflow', workflow_id, 'required', is_required) AS fields,
      jsonb_build_object('content', ${hashOf('content_enc')}) AS secrets
    FROM cases JOIN workflows ON workflows.id = workflow_id WHERE cases.id = ${id}`,
  case_run: ({ id }: TargetKey) => sql`
    SELECT title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'is_cancelled', is_cancelled) AS fields,
      ${NONE} AS secrets
    FROM case_runs JOIN workflows ON workflows.id = workflow_id WHERE case_runs.id = ${id}`,
  // All pins of a node: several iterations of it may have one.
  pin: ({ id, workflowId }: TargetKey) => sql`
    SELECT title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'node', node_id,
        'paths', jsonb_agg(path ORDER BY path)) AS fields,
      jsonb_build_object('outcome', encode(sha256(string_agg(pin_enc, ''::bytea ORDER BY path)), 'hex')) AS secrets
    FROM pins JOIN workflows ON workflows.id = workflow_id
    WHERE workflow_id = ${workflowId ?? 0} AND node_id = ${id}
    GROUP BY workflow_id, node_id, title, project_id`,
  schedule: ({ id }: TargetKey) => sql`
    SELECT workflows.title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'cron', cron,
        'time_zone', time_zone, 'overlap', overlap, 'jitter_seconds', jitter_seconds,
        'catchup_seconds', catchup_seconds, 'is_paused', is_paused, 'pause_reason', pause_reason,
        'author', schedules.author_id) AS fields,
      jsonb_build_object('input', ${hashOf('input_enc')}) AS secrets
    FROM schedules JOIN workflows ON workflows.id = workflow_id WHERE schedules.id = ${id}`,
  run: ({ id }: TargetKey) => sql`
    SELECT workflows.title AS name, runs.project_id, jsonb_build_object('is_api_run', is_api_run,
        'use_in_marketplace_example', use_in_marketplace_example,
        'use_as_marketplace_template', use_as_marketplace_template) AS fields, ${NONE} AS secrets
    FROM runs JOIN workflows ON workflows.id = workflow_id WHERE runs.id = ${id}`,
  webhook_delivery: ({ id }: TargetKey) => sql`
    SELECT type AS name, project_id, jsonb_build_object('status', status) AS fields, ${NONE} AS secrets
    FROM webhook_deliveries WHERE id = ${id}`,
  approval: ({ id }: TargetKey) => sql`
    SELECT tool_name AS name, project_id, jsonb_build_object('status', status, 'arguments_hash', arguments_hash,
        'counted', counted) AS fields, ${NONE} AS secrets
    FROM approval_requests WHERE request_id = ${id}`,
  human_task: ({ id }: TargetKey) => sql`
    SELECT node_label AS name, project_id, jsonb_build_object('status', status, 'action', action,
        'answers', (SELECT count(*) FROM human_answers WHERE human_answers.task_id = human_tasks.task_id)) AS fields,
      ${NONE} AS secrets
    FROM human_tasks WHERE task_id = ${id}`,
  category: ({ id }: TargetKey) => sql`
    SELECT name, NULL::integer AS project_id, jsonb_build_object('name', name, 'parent', parent_id) AS fields,
      ${NONE} AS secrets
    FROM categories WHERE id = ${id}`,
} satisfies Record<string, (key: TargetKey) => RawBuilder<unknown>>;

export type TargetType = keyof typeof FIND;

/** Returns undefined when there is no such object, or it was deleted. */
export async function findTarget(db: Db, type: TargetType, key: TargetKey): Promise<FoundTarget | undefined> {
  const found = FIND[type](key);
  const { rows } = await sql<FoundTarget>`
    SELECT name, project_id AS "projectId", fields, secrets FROM (${found}) AS target`.execute(db);
  return rows[0];
}
