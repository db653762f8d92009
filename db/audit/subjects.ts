// All subjects of the audit log. A subject is a kind of object or event, such as `hook` or `login`. The types of
// actions and targets, and the actions in the OpenAPI document, are derived from `SUBJECTS`. The console's words for
// actions are checked against the client, which is generated from that document.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';

/** Identifies one object. */
export interface TargetKey {
  id: string | number;
  /** The object's project. Routes in a project always pass it; only `member` needs it to find the object. */
  projectId?: number | undefined;
  /** The workflow of a pinned node; only `pin` needs it to find the object. */
  workflowId?: number | undefined;
}

/** The fields of a target as they are shown, and a hash of each secret, null where there is none. */
export interface TargetState {
  fields: Record<string, unknown>;
  secrets: Record<string, string | null>;
}

interface FoundTarget extends TargetState {
  name: string;
  /** Null if the target belongs to no project. */
  projectId: number | null;
}

const hashOf = (column: string): RawBuilder<unknown> => sql`encode(sha256(${sql.ref(column)}), 'hex')`;
const NONE = sql`'{}'::jsonb`;

interface Subject {
  /** The verbs. An action is recorded as `subject.verb`. */
  actions: readonly string[];
  /**
   * Returns the statement that finds an object of the type. The statement returns no row for a deleted object.
   * `secrets` contains hashes, which are used to detect changes and are never shown. `find` is absent for subjects that
   * are not objects, such as sign-ins.
   */
  find?: (key: TargetKey) => RawBuilder<unknown>;
}

const SUBJECTS = {
  approval: {
    actions: ['approved', 'rejected'],
    find: ({ id }: TargetKey) => sql`
      SELECT tool_name AS name, project_id, jsonb_build_object('status', status, 'arguments_hash', arguments_hash,
          'counted', counted) AS fields, ${NONE} AS secrets
      FROM approval_requests WHERE request_id = ${id}`,
  },
  callback: { actions: ['accepted'] },
  case: {
    actions: ['created', 'changed', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, project_id, jsonb_build_object('name', name, 'workflow', workflow_id, 'required', is_required) AS fields,
        jsonb_build_object('content', ${hashOf('content_enc')}) AS secrets
      FROM cases JOIN workflows ON workflows.id = workflow_id WHERE cases.id = ${id}`,
  },
  case_run: {
    actions: ['cancelled'],
    find: ({ id }: TargetKey) => sql`
      SELECT title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'is_cancelled', is_cancelled) AS fields,
        ${NONE} AS secrets
      FROM case_runs JOIN workflows ON workflows.id = workflow_id WHERE case_runs.id = ${id}`,
  },
  category: {
    actions: ['created', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, NULL::integer AS project_id, jsonb_build_object('name', name, 'parent', parent_id) AS fields,
        ${NONE} AS secrets
      FROM categories WHERE id = ${id}`,
  },
  chat: { actions: ['called'] },
  connection: {
    actions: ['created', 'changed', 'deleted', 'authorized', 'used'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, project_id, jsonb_build_object('name', name, 'kind', kind, 'origins', origins, 'settings', settings::jsonb,
          'account', account) AS fields,
        jsonb_build_object('secrets', ${hashOf('secrets_enc')}, 'tokens', ${hashOf('tokens_enc')}) AS secrets
      FROM connections WHERE id = ${id}`,
  },
  conversation: {
    actions: ['created', 'changed', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT title AS name, project_id, jsonb_build_object('title', title, 'workflow', workflow_id, 'author', author_id,
          'user', end_user) AS fields, ${NONE} AS secrets
      FROM conversations WHERE id = ${id}`,
  },
  file: {
    actions: ['uploaded', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, project_id, jsonb_build_object('name', name, 'type', type, 'size', size) AS fields, ${NONE} AS secrets
      FROM files WHERE id = ${id} AND copy_id IS NOT NULL`,
  },
  file_link: { actions: ['created'] },
  hook: {
    actions: ['created', 'changed', 'deleted', 'refused'],
    find: ({ id }: TargetKey) => sql`
      SELECT workflows.title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'verify', verify,
          'header', header, 'author', hooks.author_id) AS fields,
        jsonb_build_object('secret', ${hashOf('secret_enc')}) AS secrets
      FROM hooks JOIN workflows ON workflows.id = workflow_id WHERE hooks.id = ${id}`,
  },
  human_task: {
    actions: ['answered'],
    find: ({ id }: TargetKey) => sql`
      SELECT node_label AS name, project_id, jsonb_build_object('status', status, 'action', action,
          'answers', (SELECT count(*) FROM human_answers WHERE human_answers.task_id = human_tasks.task_id)) AS fields,
        ${NONE} AS secrets
      FROM human_tasks WHERE task_id = ${id}`,
  },
  key: {
    actions: ['created', 'changed', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT label AS name, project_id, jsonb_build_object('user', user_id, 'label', label, 'project', project_id,
          'scope', scope, 'expires_at', expires_at, 'rate_limit', rate_limit) AS fields,
        jsonb_build_object('api_key', ${hashOf('key_hash')}) AS secrets
      FROM api_keys WHERE id = ${id}`,
  },
  login: { actions: ['succeeded', 'refused'] },
  member: {
    actions: ['added', 'changed', 'removed'],
    find: ({ id, projectId }: TargetKey) => sql`
      SELECT users.name, project_id, jsonb_build_object('role', role) AS fields, ${NONE} AS secrets
      FROM project_members JOIN users ON users.id = user_id WHERE user_id = ${id} AND project_id = ${projectId ?? 0}`,
  },
  mcp_tools: { actions: ['listed'] },
  password: { actions: ['changed'] },
  password_link: { actions: ['created'] },
  pin: {
    actions: ['changed', 'deleted'],
    // All pins of a node: a node in a loop may have a pin for each iteration.
    find: ({ id, workflowId }: TargetKey) => sql`
      SELECT title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'node', node_id,
          'paths', jsonb_agg(path ORDER BY path)) AS fields,
        jsonb_build_object('outcome', encode(sha256(string_agg(pin_enc, ''::bytea ORDER BY path)), 'hex')) AS secrets
      FROM pins JOIN workflows ON workflows.id = workflow_id
      WHERE workflow_id = ${workflowId ?? 0} AND node_id = ${id}
      GROUP BY workflow_id, node_id, title, project_id`,
  },
  project: {
    actions: ['created', 'changed', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, id AS project_id, jsonb_build_object('name', name, 'webhook_url', webhook_url,
          'is_webhook_enabled', is_webhook_enabled, 'pool', pool, 'pools', to_jsonb(pools), 'spending_limit', CASE WHEN spending_limit_usd IS NOT NULL
            THEN jsonb_build_object('amount', spending_limit_usd::text, 'period', spending_period) END) AS fields,
        jsonb_build_object('webhook_secret', ${hashOf('webhook_secret_enc')}) AS secrets
      FROM projects WHERE id = ${id} AND deleted_at IS NULL`,
  },
  provider_key: {
    actions: ['added', 'removed'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, project_id, jsonb_build_object('provider', provider, 'name', name) AS fields,
        jsonb_build_object('key', ${hashOf('key_enc')}) AS secrets
      FROM provider_keys WHERE id = ${id}`,
  },
  run: {
    actions: ['cancelled', 'flagged', 'reported', 'started'],
    find: ({ id }: TargetKey) => sql`
      SELECT workflows.title AS name, runs.project_id, jsonb_build_object('is_api_run', is_api_run,
          'use_in_marketplace_example', use_in_marketplace_example,
          'use_as_marketplace_template', use_as_marketplace_template) AS fields, ${NONE} AS secrets
      FROM runs JOIN workflows ON workflows.id = workflow_id WHERE runs.id = ${id}`,
  },
  schedule: {
    actions: ['created', 'changed', 'deleted', 'paused'],
    find: ({ id }: TargetKey) => sql`
      SELECT workflows.title AS name, project_id, jsonb_build_object('workflow', workflow_id, 'cron', cron,
          'time_zone', time_zone, 'overlap', overlap, 'jitter_seconds', jitter_seconds,
          'catchup_seconds', catchup_seconds, 'is_paused', is_paused, 'pause_reason', pause_reason,
          'author', schedules.author_id) AS fields,
        jsonb_build_object('input', ${hashOf('input_enc')}) AS secrets
      FROM schedules JOIN workflows ON workflows.id = workflow_id WHERE schedules.id = ${id}`,
  },
  secrets: { actions: ['reencrypted'] },
  service: {
    actions: ['created', 'changed', 'deleted'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, project_id, jsonb_build_object('name', name, 'version', version, 'actions', action_count,
          'connection_kinds', connection_kinds) AS fields, ${NONE} AS secrets
      FROM services WHERE id = ${id}`,
  },
  session: {
    actions: ['ended', 'refreshed'],
    find: ({ id }: TargetKey) => sql`
      SELECT users.name, NULL::integer AS project_id, jsonb_build_object('user', user_id, 'method', method) AS fields, ${NONE} AS secrets
      FROM sessions JOIN users ON users.id = user_id
      WHERE sessions.id = ${id} AND ended_at IS NULL AND expires_at > now()`,
  },
  sign_in_link: { actions: ['created'] },
  signals: { actions: ['resent'] },
  token: { actions: ['issued'] },
  tool: { actions: ['called'] },
  user: {
    actions: ['created', 'changed'],
    find: ({ id }: TargetKey) => sql`
      SELECT name, NULL::integer AS project_id, jsonb_build_object('name', name, 'email', email, 'api_access', api_access,
          'is_admin', is_admin, 'is_active', is_active) AS fields,
        jsonb_build_object('password', (SELECT encode(sha256(convert_to(hash, 'UTF8')), 'hex') FROM user_passwords
          WHERE user_id = users.id)) AS secrets
      FROM users WHERE id = ${id}`,
  },
  webhook_delivery: {
    actions: ['sent_again'],
    find: ({ id }: TargetKey) => sql`
      SELECT type AS name, project_id, jsonb_build_object('status', status) AS fields, ${NONE} AS secrets
      FROM webhook_deliveries WHERE id = ${id}`,
  },
  webhook_secret: { actions: ['renewed'] },
  workflow: {
    actions: [
      'bookmarked',
      'created',
      'changed',
      'checked',
      'copied',
      'deleted',
      'drafted',
      'duplicated',
      'estimated',
      'imported',
      'moved',
      'published',
      'restored',
      'unpublished',
    ],
    // The record of a drawing has its version, and not its contents.
    find: ({ id }: TargetKey) => sql`
      SELECT title AS name, project_id, jsonb_build_object('title', title, 'data', version, 'sort_id', sort_id,
          'market_title', market_title, 'short_description', short_description, 'readme_guide', readme_guide,
          'available_languages', available_languages, 'run_fee', run_fee_usd::text,
          'free_runs_per_user', free_runs_per_user, 'max_run_cost', max_run_cost_usd::text, 'is_published', is_published,
          'is_tool', is_tool, 'is_chat', is_chat, 'tags', tags, 'categories', coalesce((SELECT jsonb_agg(category_id ORDER BY category_id)
            FROM workflow_categories WHERE workflow_id = workflows.id), '[]')) AS fields,
        ${NONE} AS secrets
      FROM workflows WHERE id = ${id} AND archived_at IS NULL`,
  },
} as const satisfies Record<string, Subject>;

type Subjects = typeof SUBJECTS;

export type AuditAction = { [S in keyof Subjects]: `${S}.${Subjects[S]['actions'][number]}` }[keyof Subjects];

export type TargetType = { [S in keyof Subjects]: Subjects[S] extends Required<Subject> ? S : never }[keyof Subjects];

/** The OpenAPI document lists the actions in this order. */
export const AUDIT_ACTIONS = Object.entries(SUBJECTS).flatMap(([subject, { actions }]) =>
  actions.map((verb) => `${subject}.${verb}`),
) as AuditAction[];

/** Returns undefined when there is no such object, or it was deleted. */
export async function findTarget(db: Db, type: TargetType, key: TargetKey): Promise<FoundTarget | undefined> {
  const found = SUBJECTS[type].find(key);
  const { rows } = await sql<FoundTarget>`
    SELECT name, project_id AS "projectId", fields, secrets FROM (${found}) AS target`.execute(db);
  return rows[0];
}
