// Written by `npm run db:types` from the migrated database: change db/migrations/ or scripts/table-types/, not this file.

import type { AuditVia, JsonOf, WebhookEventType } from "./column-types.js";
import type { ColumnType } from "kysely";

export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;

/** The tools of an agent, fixed at its first turn. Writer: the worker; retention deletes what has expired. */
export interface AgentSessions {
  run_id: string;
  path: string;
  node_id: string;
  /** Sealed JSON of `AgentTool[]` (db/agents/agent-tools.ts). */
  tools_enc: Buffer;
  /** The `max_cost` of the agent; null: no limit. The runs that its tools start read it. */
  max_cost_usd: string | null;
  created_at: Generated<Date>;
}

/**
 * Every tool call that a model asked for, and its answer once there is one. Writer: the worker; retention deletes
 * what has expired.
 */
export interface AgentToolCalls {
  run_id: string;
  path: string;
  node_id: string;
  turn: number;
  ordinal: number;
  /** The provider's id of the call. */
  tool_call_id: string;
  /** Null for a tool that does not exist. */
  server_label: string | null;
  tool_name: string;
  /** Sealed text, exactly as the model wrote it. */
  arguments_enc: Buffer;
  request_id: string | null;
  outcome: "result" | "tool_error" | "rejected" | "expired" | "invalid" | null;
  /** Sealed text of what the model gets as the answer. */
  answer_enc: Buffer | null;
  finished_at: Date | null;
}

/** The model's message of each turn. Append only. Writer: the worker; retention deletes what has expired. */
export interface AgentTurns {
  run_id: string;
  path: string;
  node_id: string;
  turn: number;
  is_final: boolean;
  /** Sealed JSON of the assistant message. */
  message_enc: Buffer;
  usage: JsonOf<unknown> | null;
  created_at: Generated<Date>;
}

/**
 * Iterations of a loop that have ended and have all their events in `run_events`. Writer: the function
 * `order_run_events`.
 */
export interface AnnouncedIterations {
  run_id: string;
  path: string;
  node_id: string;
  /** Indexes of the iterations, as the text of a multirange. */
  indexes: string;
}

/**
 * The draft of the user before the newest answer of the assistant in the editor. Writer: the API. It is deleted with
 * the draft; retention deletes old ones.
 */
export interface AnswerBaselines {
  conversation_id: string;
  run_id: string;
  workflow_id: number;
  user_id: number;
  /** As in `workflow_drafts`; null where there was no draft, and the drawing was that of `base_version`. */
  document: JsonOf<Record<string, unknown>> | null;
  /** Null: only an earlier build writes it, and nothing reads it. */
  secrets_enc: Buffer | null;
  base_version: number;
  created_at: Generated<Date>;
  /** The size of `document`, which counts for the project; 0 in rows of an earlier build, which are not counted. */
  bytes: Generated<number>;
}

/** API keys. The key itself is not stored, only its SHA-256 (`key_hash`). Writers: the API and `admin`. */
export interface ApiKeys {
  id: Generated<number>;
  user_id: number;
  /** The only project that the key reaches; null: all projects of its user. */
  project_id: number | null;
  scope: Generated<"full" | "run" | "read">;
  label: Generated<string>;
  key_hash: Buffer;
  /** The last four characters, to tell keys apart in a list. */
  key_hint: string;
  /** Requests a minute; null: DEFAULT_RATE_LIMIT. */
  rate_limit: number | null;
  created_at: Generated<Date>;
  /** Null: never. An expired key is treated as unknown. */
  expires_at: Date | null;
}

/** The decisions on requests, one row a person. Append only. Writer: the API. */
export interface ApprovalDecisions {
  request_id: string;
  user_id: number;
  decision: "approved" | "rejected";
  /** The hash of the arguments that were decided on. */
  arguments_hash: string;
  reason: Generated<string>;
  decided_at: Generated<Date>;
}

/**
 * Tool calls that people have to approve. Writers: the worker inserts and expires; the API decides, under the lock of
 * the row; retention deletes what has expired.
 */
export interface ApprovalRequests {
  request_id: string;
  run_id: string;
  path: string;
  node_id: string;
  /** A copy of the run's, by which the requests of a user are found. */
  project_id: number;
  /**
   * The label as drawn when the run was accepted, at most 60 characters: reading it there means parsing the whole
   * drawing for each request.
   */
  node_label: Generated<string>;
  turn: number;
  ordinal: number;
  server_label: string;
  tool_name: string;
  /** The arguments that the model gave, as they are shown: secrets masked. */
  arguments: JsonOf<unknown>;
  /** The hash of the arguments that would be sent (`db/agents/arguments-hash.ts`). */
  arguments_hash: Generated<string>;
  /** The arguments by which a person has replaced them, as they are shown. */
  edited_arguments: JsonOf<unknown> | null;
  /** The edited arguments as they are sent: JSON text, sealed. */
  edited_enc: Buffer | null;
  /** How many people must approve. */
  required: Generated<number>;
  /** True: the person who started the run may not decide. */
  exclude_starter: Generated<boolean>;
  /** The only person who sees the request of a test run and may decide; null for other runs. */
  only_user: number | null;
  /** The people who may decide; null for everybody who may draw. */
  roles: ProjectMembers['role'][] | null;
  /** How many decisions were counted and have not settled the request: versions of the run count them. */
  counted: Generated<number>;
  status: Generated<"pending" | "approved" | "rejected" | "expired">;
  /** The reason of the decision that settled the request, as are `decided_by` and `decided_at`. */
  reason: Generated<string>;
  decided_by: number | null;
  decided_at: Date | null;
  /** When the run workflow took the signal. The API repeats the signal while it is null. */
  signalled_at: Date | null;
  next_signal_at: Date | null;
  /** How many further signals the API has sent; `next_signal_at` is the time of the next one, null for at once. */
  signal_attempts: Generated<number>;
  created_at: Generated<Date>;
  expires_at: Date;
}

/**
 * One chain of hashes a project; 0 is the chain of the records without a project. Writers: the API, which chains the
 * records, and the function `expire_audit_records`.
 */
export interface AuditChains {
  project_id: number;
  /** How many records the chain has had. */
  entries: Generated<number>;
  last_id: number | null;
  last_hash: Generated<Buffer>;
  /** How many of the first records were deleted; `expired_hash` is the hash of the last one of them. */
  expired: Generated<number>;
  expired_hash: Generated<Buffer>;
}

/**
 * The audit log. Writers: whoever changes something, in the transaction of the change. A trigger refuses changes and
 * early deletions; the function `expire_audit_records` deletes.
 */
export interface AuditRecords {
  id: Generated<number>;
  at: Generated<Date>;
  /** Null: the record belongs to no project. */
  project_id: number | null;
  /** One of `db/audit/subjects.ts`. */
  action: string;
  outcome: "success" | "refused";
  actor_id: number | null;
  /** The name at that time. */
  actor_name: string | null;
  /** The way by which it came. `mcp:NAME` is the assistant of that name, with the key of its user. */
  via: AuditVia;
  key_id: number | null;
  address: string | null;
  target_type: string | null;
  target_id: string | null;
  target_name: string | null;
  /** `{field: [before, after]}` */
  changes: JsonOf<Record<string, [unknown, unknown]>>;
  /** How many refusals the record stands for. */
  count: Generated<number>;
  /** The place in its chain, from 1; null until it is chained. */
  position: number | null;
  /** SHA-256 of the record and the hash before it. */
  hash: Buffer | null;
}

/**
 * Refusals of one address and target in one minute. Writer: the API, which turns the row into a record when the
 * minute is over.
 */
export interface AuditRefusals {
  key: Buffer;
  minute: Date;
  count: number;
  /** The last refusal, from which the record is made. */
  last: JsonOf<unknown>;
}

/**
 * Payments. Writers: the worker, one row an executed node; the end of a run adds the transactions of calls whose
 * worker died; the API, one row a call of the chat proxy, under the id of the call.
 */
export interface BillingTransactions {
  id: Generated<string>;
  /** Null for a call of the chat proxy. */
  run_id: string | null;
  path: string;
  node_id: string;
  /** Null for a call of the chat proxy that belongs to no project. */
  project_id: number | null;
  user_id: number;
  /** The node kind's word, `marketplace_fee`, or `chat`. */
  operation: string;
  status: "Succeeded" | "Error";
  amount_usd: Generated<string>;
  /** True: nobody has reported the tokens; they were estimated from the number of characters. */
  is_estimated: Generated<boolean>;
  /** The price list of the amount; empty for what is free. */
  price_version: Generated<string>;
  reason: Generated<string>;
  description: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** Bookmarks of users. Writer: the API. */
export interface Bookmarks {
  user_id: number;
  workflow_id: number;
  created_at: Generated<Date>;
}

/** Limits and periods for which the webhook event was written. Writer: the function `tell_budget_reached`. */
export interface BudgetsReached {
  project_id: number;
  period: string;
  period_start: Date;
  limit_usd: string;
  reached_at: Generated<Date>;
}

/** The result of each case of a row of `case_runs`. Writer: the API. */
export interface CaseResults {
  case_run_id: string;
  case_id: number;
  /** Null: no run could be started. */
  run_id: string | null;
  status: Generated<"in progress" | "passed" | "failed" | "error">;
  /** A `CaseDetail` as JSON, sealed: what was expected when the case started, and what came instead. */
  detail_enc: Buffer;
}

/**
 * Cases that were started together, with one drawing. Writers: the API, and the function `refuse_in_cases`
 * (`has_reached_limit`).
 */
export interface CaseRuns {
  id: string;
  workflow_id: number;
  user_id: number;
  status: Generated<"in progress" | "passed" | "failed">;
  /** A `TriedDrawing` as JSON, sealed. */
  drawing_enc: Buffer;
  /** The most that all cases together may cost; null: no limit. */
  max_cost_usd: string | null;
  is_cancelled: Generated<boolean>;
  /** True: a call was not made, because it could have passed `max_cost_usd`. */
  has_reached_limit: Generated<boolean>;
  created_at: Generated<Date>;
  finished_at: Date | null;
}

/** Cases of a workflow. Writer: the API. */
export interface Cases {
  id: Generated<number>;
  workflow_id: number;
  name: string;
  /** A `CaseContent` as JSON, sealed: the input, the mocks and what is expected. */
  content_enc: Buffer;
  is_required: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** Categories of the catalog. A category with a parent is a subcategory; there is no third level. Writer: `admin`. */
export interface Categories {
  id: Generated<number>;
  name: string;
  parent_id: number | null;
  created_at: Generated<Date>;
}

/**
 * The ledger of the chat proxy: a row is inserted before its call leaves. The transaction of a call has the same id.
 * Writer: the API.
 */
export interface ChatCalls {
  id: string;
  project_id: number | null;
  user_id: number;
  provider: string;
  model: string;
  price_version: string;
  /** The most that the call may cost while it is open; null once it has its transaction. */
  reserved_usd: string | null;
  /** The reserved tokens, later the used ones. So `output_tokens`. */
  input_tokens: number;
  output_tokens: number;
  /** The API process that makes the call. */
  process_id: string;
  /** After that its process counts as dead. */
  leased_until: Date;
  sent_at: Generated<Date>;
}

/**
 * Connections: the credentials of a project, which drawings name and never contain. Writers: the API, and the worker
 * (tokens, status, and the time of the last use).
 */
export interface Connections {
  id: Generated<number>;
  project_id: number;
  name: string;
  kind: "header" | "query" | "path" | "basic" | "bearer" | "oauth2_client_credentials" | "oauth2" | "mcp_oauth";
  /** The credential is sent to these and to no other (connections/origins.ts). */
  origins: string[];
  /** The settings that are no secrets, by the kind (connections/kinds.ts). */
  settings: JsonOf<Record<string, unknown>>;
  /** The entered secrets, as JSON by the kind, sealed. */
  secrets_enc: Buffer;
  /**
   * The tokens of a provider, as JSON (connections/tokens.ts), sealed; null for kinds without tokens, and before the
   * first sign-in.
   */
  tokens_enc: Buffer | null;
  status: "ready" | "needs_authorization" | "failing";
  status_reason: string | null;
  /** The name under which the provider knows who has signed in. */
  account: string | null;
  /** When the access token expires. */
  expires_at: Date | null;
  /** Rises with each set of tokens. */
  tokens_version: Generated<number>;
  /** Rises with each change of an address that secrets are sent to. */
  version: Generated<number>;
  /** Held by the process that asks the provider for new tokens, so that no transaction stays open meanwhile. */
  lease: string | null;
  leased_until: Date | null;
  /** When the grant was lost, or the first run began to wait for it; null while nobody has to authorize. */
  grant_lost_at: Date | null;
  last_used_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/**
 * Sign-ins at a provider that have been started. A state is accepted once, and only from the browser that has the
 * cookie. Writer: the API.
 */
export interface ConnectionSignIns {
  /** SHA-256 of the `state` that goes to the provider and comes back. */
  state_hash: Buffer;
  connection_id: number;
  user_id: number;
  /** SHA-256 of the cookie of the browser that has started the sign-in. */
  cookie_hash: Buffer;
  /** The values that the exchange of the code needs, as JSON, sealed; the verifier is one of them. */
  flow_enc: Buffer;
  expires_at: Date;
}

/** Connections that a run has used: each is recorded once in the audit log. Writer: the worker. */
export interface ConnectionUses {
  run_id: string;
  connection_id: number;
}

/**
 * Messages, each with its answer, so that the end of the run writes one row. Writers: the API, and a trigger on
 * `runs` at the end of the message's run. A message is deleted with its conversation.
 */
export interface ConversationMessages {
  id: string;
  conversation_id: string;
  /** The place in the conversation, from 1; runs get their turn in this order. */
  ordinal: number;
  run_id: string;
  /** The message before it in its branch; null for the first one. */
  follows: string | null;
  /** The message that it replaces. */
  replaces: string | null;
  /** Secrets masked. */
  content: string;
  /** The whole content, sealed; null where nothing of it is masked. */
  content_enc: Buffer | null;
  /** File values. */
  files: JsonOf<unknown[]>;
  created_at: Generated<Date>;
  /** Null until the run has ended. */
  answer_id: string | null;
  /** Secrets masked; null unless the run has succeeded. */
  answer: string | null;
  answer_files: JsonOf<unknown[]> | null;
  /** True: the answer is longer than what is kept here. */
  is_answer_cut: Generated<boolean>;
  answered_at: Date | null;
}

/** Conversations with workflows. Writers: the API; retention deletes those of deleted workflows and projects. */
export interface Conversations {
  id: string;
  workflow_id: number;
  project_id: number;
  author_id: number;
  title: string;
  /** The author's name for an end user. */
  end_user: string | null;
  /** The other fields of the trigger for each message, sealed. */
  inputs_enc: Buffer;
  created_at: Generated<Date>;
  /** `chat`: with the workflow. `assistant`: with the assistant in its editor, which its author alone sees. */
  purpose: Generated<"chat" | "assistant">;
}

/** The bytes in the store. Equal bytes of a project share a copy. Writers: whoever saves a file, and the sweep. */
export interface FileCopies {
  id: string;
  project_id: number;
  /** Random: the name of the bytes in the store. */
  name: string;
  /** `writing` until the hash is known. `stored` copies of a project differ from each other. */
  status: Generated<"writing" | "stored" | "deleting">;
  /** How many bytes have been written. */
  bytes: Generated<number>;
  /** Null until all bytes are stored. */
  sha256: Buffer | null;
  /** The id of the key and the salt, from which the key of this copy is derived. */
  seal: Buffer;
  /** A process that writes updates it every few seconds. */
  touched_at: Generated<Date>;
}

/**
 * References of rows to files. Writers: whoever writes a value that holds files, in the transaction of the value;
 * triggers on the tables that refer; and retention.
 */
export interface FileReferences {
  file_id: string;
  kind: "run" | "pin" | "case" | "drawing" | "schedule" | "message";
  /**
   * The id of a run, case, schedule, message, answer or conversation; `WORKFLOW/VERSION` of a drawing;
   * `WORKFLOW/draft/USER` of a draft; `WORKFLOW/PATH/NODE` of a pin.
   */
  holder: string;
}

/** Files. Writers: whoever saves or deletes a file, and the sweep. */
export interface Files {
  id: string;
  project_id: number;
  /** Null: the file was deleted while something still referred to it. */
  copy_id: string | null;
  name: string;
  /** The media type as it was declared. */
  type: string;
  size: number;
  sha256: Buffer;
  /** The run that made it. */
  run_id: string | null;
  /** The user who uploaded it. */
  user_id: number | null;
  created_at: Generated<Date>;
}

/**
 * The store that this database belongs to, in one row. Its mark stands in the store, too. Writer: the first process
 * that opens the store.
 */
export interface FileStore {
  is_only: Generated<boolean>;
  mark: string;
}

/**
 * Results that nodes of a test run get instead of being executed. Writer: the acceptance of test runs; retention
 * deletes what has expired.
 */
export interface FixedResults {
  run_id: string;
  /** The iteration that encloses the node, or `*` for every iteration. */
  path: string;
  node_id: string;
  source: "mock" | "pin";
  /** True: the node of a pin, or something before it, has changed since it was pinned. */
  is_stale: boolean;
  /** A `FixedOutcome` as JSON, sealed. */
  outcome_enc: Buffer;
}

/**
 * Snapshots that runs execute: a drawing and its plan. Immutable; identical graphs share a row. Writer: run
 * acceptance; retention deletes graphs that nothing refers to.
 */
export interface GraphSnapshots {
  /** SHA-256 of the document's JSON text. */
  hash: Buffer;
  document: JsonOf<Record<string, unknown>>;
  /** `Plan` of graph/plan.ts. */
  plan: JsonOf<unknown>;
  created_at: Generated<Date>;
}

/** Hooks, at which other services call. Writer: the API. The hooks of a workflow are deleted with it. */
export interface Hooks {
  id: Generated<number>;
  workflow_id: number;
  /** The user in whose name the runs are started. */
  author_id: number;
  verify: "none" | "standard-webhooks" | "hmac-sha256";
  /** The header that carries the signature; null unless `verify` is `hmac-sha256`. */
  header: string | null;
  /** SHA-256 of the token in the address. */
  token_hash: Buffer;
  token_enc: Buffer;
  /** The secret of the signatures; null if none are required. */
  secret_enc: Buffer | null;
  created_at: Generated<Date>;
  last_delivery_at: Date | null;
  /** How the last delivery was answered that was not throttled. */
  last_delivery_status: number | null;
}

/** The deliveries of a hook in its current minute. Writer: the API. */
export interface HookWindows {
  hook_id: number;
  ends_at: Date;
  deliveries: number;
  /** Deliveries with a wrong signature. */
  refusals: number;
}

/** Answers to tasks, one row a person. Writer: the API. */
export interface HumanAnswers {
  task_id: string;
  user_id: number;
  action: string;
  /** Values by the ids of the fields, secrets masked. */
  entered: JsonOf<unknown>;
  /** The unmasked values, sealed; null when nothing is masked. */
  entered_enc: Buffer | null;
  comment: string;
  answered_at: Generated<Date>;
}

/**
 * Questions of runs to people. Writers: the worker asks, and expires tasks that nobody has answered in time; the API
 * settles a task by an answer, under the lock of the row; retention deletes what has expired.
 */
export interface HumanTasks {
  task_id: Generated<string>;
  run_id: string;
  path: string;
  node_id: string;
  /** A copy of the run's. */
  project_id: number;
  /** The label as drawn when the run was accepted, at most 60 characters. */
  node_label: string;
  /** With its variables filled in, secrets masked. */
  message: string;
  /** In the form of a trigger's fields. */
  fields: JsonOf<unknown>;
  /** File values that the people see. */
  files: JsonOf<unknown>;
  /** `{id, label}` each. */
  actions: JsonOf<unknown>;
  /** Members of the project with one of these roles may answer. */
  roles: string[];
  /** Members of the project with one of these ids may answer. */
  users: number[];
  exclude_starter: boolean;
  required: number;
  /** How many answers were counted and have not settled the task: versions of the run count them. */
  counted: Generated<number>;
  status: Generated<"pending" | "answered" | "expired">;
  /** The action that enough people have chosen. */
  action: string | null;
  created_at: Generated<Date>;
  expires_at: Date;
  settled_at: Date | null;
}

/**
 * Keys of repeated run starts. A row counts for 24 hours. Writer: run acceptance, in one transaction with the run;
 * retention deletes old rows.
 */
export interface IdempotencyKeys {
  user_id: number;
  key: string;
  /** The request that had the key, hashed and sealed: from a plain hash a short secret could be guessed. */
  request_enc: Buffer;
  /** Null: the key was withdrawn, and no request with it starts a run. */
  run_id: string | null;
  created_at: Generated<Date>;
}

/**
 * Failed logins of the current minute, by account, by network, and by both. `key` is a hash, because people type
 * passwords into the wrong field. Writer: the API.
 */
export interface LoginFailures {
  key: Buffer;
  /** Attempts that are under way count until they have succeeded. */
  failures: number;
  ends_at: Date;
}

/** Strangers to an account under attack who have been told to retry later. Writer: the API. */
export interface LoginWaits {
  key: Buffer;
  ready_at: Date;
  /** The next attempt is admitted until then. */
  ends_at: Date;
}

/**
 * The items of a list that a loop goes through. Writers: the worker, when a loop starts, and the acceptance of a run
 * that reuses results; retention deletes what has expired.
 */
export interface LoopItems {
  run_id: string;
  /** The iteration that encloses the loop; empty outside loops. */
  path: string;
  /** The id of the loop. */
  node_id: string;
  /** From 0. */
  index: number;
  /** JSON text, sealed. */
  item_enc: Buffer;
}

/**
 * Progress of the loops of a run. The rows of a loop add up. Writers: a trigger on `node_results`, whenever an
 * iteration starts or ends, and the acceptance of a run that reuses results.
 */
export interface LoopProgress {
  run_id: string;
  /** The iteration that encloses the loop; empty outside loops. */
  path: string;
  /** The id of the loop. */
  node_id: string;
  /** The common beginning of the paths of its iterations. */
  prefix: string;
  /** Indexes of started iterations, as the text of a multirange: most of them follow each other. */
  started: Generated<string>;
  /** Indexes of ended iterations. */
  ended: Generated<string>;
  /** How many of the ended ones have failed. */
  failed: Generated<number>;
  /**
   * How many changes the ended iterations contain, those of loops in them included: the version of the run counts
   * them.
   */
  changes: Generated<number>;
}

/** Copies of published workflows, on the terms that their users saw: a later price is not theirs. Writer: the API. */
export interface MarketplaceCopies {
  copy_id: number;
  source_id: number;
  user_id: number;
  run_fee_usd: string;
  free_runs_per_user: number;
  created_at: Generated<Date>;
}

/** Succeeded runs of a user on all their copies of a source that has a fee. Writer: the end of a run. */
export interface MarketplaceUsage {
  source_id: number;
  user_id: number;
  succeeded_runs: number;
}

/**
 * Attempts of a node before the last one, which is the node's own row: a node that needs one attempt has no row here.
 * Writers: the worker, and a trigger on `node_results` for attempts whose worker was lost; retention deletes what has
 * expired.
 */
export interface NodeAttempts {
  run_id: string;
  path: string;
  node_id: string;
  /** From 1. */
  number: number;
  started_at: Date;
  /** For an attempt whose worker was lost: when the next attempt started. */
  finished_at: Date;
  error_code: string;
  error_message: string | null;
  /** As in `node_results.step`. */
  step: string | null;
  /** The worker process that died during the attempt; null where the attempt ended in another way. */
  worker: string | null;
  /** True: the node ran apart from others (`node_results.isolation`). */
  was_isolated: Generated<boolean>;
}

/**
 * Nodes and iterations of a run, from their start on. Writers: the worker, and the acceptance of a run that reuses
 * results; the end of a run closes open rows; retention empties what has expired.
 */
export interface NodeResults {
  run_id: string;
  /** The iteration that encloses the node; empty outside loops. So in every table that names a node. */
  path: string;
  node_id: string;
  status: "in progress" | "succeed" | "failed";
  /** By which links the node was left: 0 for the ordinary ones, else the number of the kind's named handle (`Handle`). */
  handle: Generated<number>;
  /** Further handles by which the node was left; null where there are none. */
  also_handles: number[] | null;
  /** True: the run survives the failure of the node. */
  is_handled: Generated<boolean>;
  /**
   * True: the row is an iteration. `path` is its own, `node_id` that of its loop. So the end of the run closes it,
   * and retention empties it, like a node.
   */
  is_iteration: Generated<boolean>;
  /** The number of iterations of a loop, 0 where it is not known beforehand; null for other nodes. */
  iterations: number | null;
  /** True: the row comes from an earlier run, a mock or a pin. Nothing was executed or paid for it. */
  is_reused: Generated<boolean>;
  /** The origin of a row in a test run: `mock`, `pin`, or the id of a run. */
  source: string | null;
  /** True: the pin was made with another drawing. */
  is_stale: Generated<boolean>;
  /** How many attempts have started; the attempt of a worker that died counts. */
  attempts: Generated<number>;
  /** When the last attempt started; null for the first one, which started with the node. */
  attempt_started_at: Date | null;
  /**
   * Attempts of the step that do not count against its retries: their worker died, or was stopped and handed them
   * back.
   */
  spared: Generated<number>;
  /** The worker process that executes the node; null while the node waits for a slot. */
  worker: string | null;
  /** State of a node whose workers died: it waits to run apart from others, or runs so; null for other nodes. */
  isolation: "waits" | "runs" | null;
  /** The step of an agent that was claimed last (`NodeStep.name`); null for nodes that take one activity. */
  step: string | null;
  /** From when the node was ready to its first attempt; null for a node that never waits in a queue. */
  queued_ms: number | null;
  /** `{content, ...}` as it leaves the service: secrets masked. */
  result: JsonOf<Record<string, unknown>> | null;
  /**
   * The size of `result` as JSON text, which decides whether it is read together with others: finding it out from the
   * stored value means decompressing that. Null where there was never a result.
   */
  result_bytes: number | null;
  /** The unmasked result, sealed; null when nothing is masked. */
  result_enc: Buffer | null;
  error_code: string | null;
  error_message: string | null;
  started_at: Generated<Date>;
  finished_at: Date | null;
}

/** The users that persons of identity providers are. Writer: the API. */
export interface OidcIdentities {
  issuer: string;
  subject: string;
  user_id: number;
  created_at: Generated<Date>;
}

/** Pinned results of the nodes of a workflow. Writer: the API. */
export interface Pins {
  workflow_id: number;
  path: string;
  node_id: string;
  /** A `FixedOutcome` with secrets masked, for readers. */
  outcome: JsonOf<Record<string, unknown>>;
  /** A `StoredPin` as JSON, sealed: what nodes get, and a fingerprint of the node and of all before it. */
  pin_enc: Buffer;
  source_run: string | null;
  updated_by: number;
  updated_at: Generated<Date>;
}

/**
 * Nodes in progress that another pool than the default one executes. Writers: a worker of the default pool adds a
 * node before it enters the queue of its pool; the API deletes those that have ended.
 */
export interface PoolNodes {
  run_id: string;
  path: string;
  node_id: string;
  pool: string;
  /** The build on which the run is executed, of versioned workers. */
  build_id: string | null;
  /** When the node, or its present step, entered the queue of the pool. */
  due_at: Generated<Date>;
}

/**
 * Members of projects with their roles. Writers: the API, which holds the lock on the project's row meanwhile, and
 * `admin`.
 */
export interface ProjectMembers {
  project_id: number;
  user_id: number;
  role: "owner" | "admin" | "editor" | "viewer";
  created_at: Generated<Date>;
}

/** Projects. Writers: the API, and a trigger on `billing_transactions`, which keeps what was spent. */
export interface Projects {
  id: Generated<number>;
  name: string;
  webhook_url: Generated<string>;
  is_webhook_enabled: Generated<boolean>;
  /** Sealed. Made when the webhook is first switched on, replaced by the webhook-secret endpoint. */
  webhook_secret_enc: Buffer | null;
  /** When the secret was shown; null: nobody has seen it. */
  webhook_secret_shown_at: Date | null;
  /** Sealed. Signs beside the new one for a day after a rotation. */
  webhook_previous_secret_enc: Buffer | null;
  total_spent_usd: ColumnType<string, never, never>;
  /** Null, like the period: no limit. */
  spending_limit_usd: string | null;
  spending_period: "day" | "month" | "total" | null;
  /** The last UTC day on which something was paid. */
  spent_on: ColumnType<Date | null, never, never>;
  /** The sum paid on the day `spent_on`, so that a call need not add up transactions. */
  spent_that_day_usd: ColumnType<string, never, never>;
  /** The sum paid in the month of `spent_on`. */
  spent_that_month_usd: ColumnType<string, never, never>;
  created_by: number;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  deleted_at: Date | null;
  /** The pool whose workers execute its nodes; null is `default`. */
  pool: string | null;
  /** The other pools that its nodes may name. */
  pools: Generated<string[]>;
}

/**
 * Calls that are paid for or must not be repeated: a call is claimed here before it leaves. Writer: the worker; the
 * end of a run charges reserved calls.
 */
export interface ProviderCalls {
  run_id: string;
  path: string;
  node_id: string;
  turn: Generated<number>;
  /** For a model call that was cut off: the negative number of its attempt (`chargedCalls`). */
  ordinal: Generated<number>;
  /**
   * `sent`: on the wire, outcome unknown. `applied`: outcome recorded. `refused`: it had no effect or has a row
   * `cut`, and may be repeated. `cut`: a model call was sent and cut off, and its price is estimated.
   */
  state: "sent" | "applied" | "refused" | "cut";
  /** How often the call was claimed. The last attempt owns it. */
  attempts: Generated<number>;
  /** How often a worker died with this call in flight: the provider may have charged each, the user pays once. */
  crashes: Generated<number>;
  provider: string | null;
  model: string | null;
  /** The provider's report, unchanged; retention empties it. */
  usage: JsonOf<unknown> | null;
  /**
   * As reported, else estimated; reserved while the call is on the wire. Null where nothing is known. So
   * `output_tokens`.
   */
  input_tokens: number | null;
  output_tokens: number | null;
  price_usd: string | null;
  /** True: nobody has reported the tokens. */
  is_estimated: Generated<boolean>;
  /** The project of a model call that is paid for. */
  project_id: number | null;
  /**
   * The most that the call may cost while it is on the wire, then its cost. Null once the node's transaction contains
   * it, and for what costs nothing. docs/adr/0020-money-reserved-with-the-claim.md.
   */
  reserved_usd: string | null;
  sent_at: Generated<Date>;
  replied_at: Date | null;
}

/** A project's own keys for model providers, which are used before the platform's. Writers: the API and `admin`. */
export interface ProviderKeys {
  id: Generated<number>;
  project_id: number;
  provider: string;
  name: string;
  key_enc: Buffer;
  masked_key: string;
  created_at: Generated<Date>;
}

/**
 * The current minute of each API key. A key without a row has made no request lately. Writer: the API, with every
 * request that carries a key.
 */
export interface RateLimits {
  key_id: number;
  window_ends_at: Date;
  /** Includes requests that were refused. */
  requests: number;
}

/**
 * For each server of an agent, tools of the last listing that the agent cannot be offered, for the present version of
 * the drawing: `check_workflow` asks no server. Writers: the worker and the API, after a listing.
 */
export interface RefusedTools {
  workflow_id: number;
  version: number;
  node_id: string;
  server_label: string;
  /** A list of `RefusedTool` (db/agents/refused-tools-repository.ts). */
  tools: JsonOf<unknown>;
}

/** The hash of each file of db/routines that is in the database. Writer: `migrateToLatest`. */
export interface RoutineFiles {
  name: string;
  hash: string;
  applied_at: Generated<Date>;
}

/**
 * Text of models, while they write and somebody reads. Writer: the worker. The end of the node deletes its rows;
 * retention deletes what crashes have left.
 */
export interface RunDeltas {
  run_id: string;
  path: string;
  node_id: string;
  /** As in `node_results.attempts`. */
  attempt: number;
  /** The number of the model call of the node, from 0. */
  step: number;
  /** The place among the rows of the step, from 0. */
  number: number;
  /** JSON text of a `DeltaBody`; secrets masked. */
  body: string;
  created_at: Generated<Date>;
}

/**
 * The events of runs that somebody follows, in order. Append only. Writer: the function `order_run_events`, called by
 * API processes; retention deletes what has expired.
 */
export interface RunEvents {
  run_id: string;
  version: number;
  kind: "run" | "node" | "approval" | "human_task";
  path: string;
  /** The id of the node, the request or the task; empty for the run. */
  subject: Generated<string>;
  /** The stored status that the run, node, request or task has got. */
  status: string;
  /**
   * Tells apart events with the same status. For a pending request or task: how many decisions or answers had been
   * counted. For a node that waits for child runs: odd when the call has started its run, even when it has waited for
   * it.
   */
  counted: Generated<number>;
}

/**
 * The node that gave a run its output. Writers: the worker, with the end of the output node, and the acceptance of a
 * run that reuses results; retention deletes what has expired.
 */
export interface RunOutputs {
  run_id: string;
  path: string;
  node_id: string;
  /**
   * The position of the value in the text of the node's result (`valueStartOf`), up to the last brace: the value is
   * not stored twice.
   */
  value_start: number;
}

/**
 * Runs. Writers: run acceptance (insert), the API (flags), `startRun` and `endRun`, the reconciler (when to look
 * next), retention (what of it is gone), and a trigger on `billing_transactions` (`cost_usd`).
 */
export interface Runs {
  id: string;
  workflow_id: number;
  project_id: number;
  user_id: number;
  status: "In Progress" | "Succeeded" | "Cancelled" | "Error" | "Draft";
  /** `assistant`: an answer of the assistant in the editor of `workflow_id`, whose drawing is built in. */
  purpose: Generated<"run" | "test" | "assistant">;
  /** The version of the drawing at acceptance; null for the test of a drawing that is not stored. */
  workflow_version: Generated<number | null>;
  snapshot_hash: Buffer;
  /** As it leaves the service: secrets masked, defaults filled in. */
  input: JsonOf<Record<string, unknown>>;
  /** The whole unmasked input, sealed; null when nothing is masked. */
  input_enc: Buffer | null;
  /** The secrets of the drawing at acceptance, sealed. */
  secrets_enc: Buffer | null;
  /**
   * Secrets of other runs that this one must mask, too, sealed: of the run that started it, and of the runs that its
   * nodes started. Null where there are none.
   */
  passed_secrets_enc: Buffer | null;
  /** The run whose node started this one; null for a run that no other one started. */
  parent_run_id: string | null;
  parent_path: string | null;
  parent_node_id: string | null;
  /** The first of the runs above it; null for a run that no other one started. */
  root_run_id: string | null;
  /** How many runs are above it. */
  depth: Generated<number>;
  /** The earlier run whose results it reuses. */
  resumed_from: string | null;
  /** The conversation in which it answers a message. */
  conversation_id: string | null;
  /**
   * True until its turn in the conversation has come. A queued run is accepted, and gets its input and its graph with
   * its turn.
   */
  is_queued: Generated<boolean>;
  /**
   * True: the plan has no node that waits, loops or asks a person (`isPlain`), so the version counts only the rows of
   * `node_results` with an empty path. False if the plan was not examined.
   */
  is_plain: Generated<boolean>;
  /** W3C trace context of the request that it was accepted in; null while nothing is traced. */
  traceparent: string | null;
  /** The number of the last report that was applied. */
  sequence: Generated<number>;
  cost_usd: ColumnType<string, never, never>;
  error_code: string | null;
  error_message: string | null;
  /** The errors of a `Draft`: node id -> [{path: message}]. */
  node_errors: JsonOf<Record<string, Record<string, string>[]>> | null;
  is_api_run: Generated<boolean>;
  use_in_marketplace_example: Generated<boolean>;
  use_as_marketplace_template: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  run_started_at: Date | null;
  run_finished_at: Date | null;
  cancel_requested_at: Date | null;
  /** When the reconciler looks at the run next; null once it has ended. */
  next_check_at: Date | null;
  check_attempts: Generated<number>;
  /** Since when its workflow task fails again and again; null if the last check found it well. */
  stuck_since: Date | null;
  /** From then on the contents of the run count as gone, and no flag brings them back. */
  results_expired_at: Date | null;
  /** True: expired, and some of its contents are still to be deleted. */
  is_purge_pending: Generated<boolean>;
  /** True: the unmasked input has expired, and `input` lacks what is masked in it. */
  is_input_lost: Generated<boolean>;
}

/**
 * API processes that want to be notified when a run changes. Writers: the API processes, each its own rows, under the
 * id that it makes at its start. Rows that are not renewed expire.
 */
export interface RunWatches {
  run_id: string;
  listener: string;
  until: Date;
  /** True: the process also wants the deltas of the run. */
  deltas: Generated<boolean>;
  /** True: the process is notified of the end of the run alone. */
  ends_only: Generated<boolean>;
}

/** A row makes a firing start one run. Writer: the worker, in one transaction with the run. */
export interface ScheduleFirings {
  schedule_id: string;
  /** The nominal time, without jitter. */
  at: Date;
  run_id: string;
  accepted_at: Generated<Date>;
}

/**
 * Schedules whose copies in Temporal are to be deleted. Writers: whoever deletes a schedule, and the worker where an
 * unknown schedule fires.
 */
export interface ScheduleRemovals {
  schedule_id: string;
  requested_at: Generated<Date>;
}

/**
 * Schedules. Temporal has a copy, which is the clock. Writers: the API, and the worker's acceptance of firings
 * (`last_*`, and the pause of a schedule whose author has lost access). Schedules are deleted with their workflow.
 */
export interface Schedules {
  id: string;
  workflow_id: number;
  /** The user in whose name the runs are started. */
  author_id: number;
  cron: string;
  time_zone: string;
  /** The whole input as JSON text, sealed. */
  input_enc: Buffer;
  overlap: "skip" | "buffer_one" | "allow_all" | "cancel_other";
  jitter_seconds: number;
  catchup_seconds: number;
  is_paused: Generated<boolean>;
  /** Null: a person has paused it. */
  pause_reason: "author_lost_access" | null;
  /**
   * Random, and new with every change that Temporal must learn: no two are equal, not even after a restore of
   * PostgreSQL.
   */
  version: Generated<string>;
  /** The last version that was written to Temporal completely, backfill included; null where none was. */
  synced_version: string | null;
  /** When the first change happened that is not in Temporal, or else the last one. */
  changed_at: Generated<Date>;
  /** When the copy in Temporal is compared next. */
  sync_at: Generated<Date>;
  /** The nominal time of the last firing that was accepted or refused. */
  last_firing_at: Date | null;
  /** Null: the firing was refused. */
  last_run_id: string | null;
  last_refusal_code: string | null;
  last_refusal_message: string | null;
  created_at: Generated<Date>;
}

/** The operations of a service of a project. Writer: the API. */
export interface ServiceActions {
  service_id: string;
  id: string;
  /** The place of the operation in the document, from 0. */
  position: number;
  title: string;
  description: string;
  method: string;
  path: string;
  server: string;
  has_side_effects: boolean;
  /** A JSON Schema that says where each field goes (graph/actions/action.ts). */
  fields: JsonOf<Record<string, unknown>>;
  body: JsonOf<Record<string, unknown>> | null;
  result: JsonOf<Record<string, unknown>> | null;
  documentation_url: string | null;
}

/** HTTP services of a project, each made from an OpenAPI document. Writer: the API. */
export interface Services {
  id: Generated<string>;
  project_id: number;
  name: string;
  description: string;
  /** The version that the document names. */
  version: string;
  documentation_url: string | null;
  /** The kinds of connections that meet the security schemes of the document. */
  connection_kinds: string[];
  action_count: number;
  /** The size of the actions as JSON text, which counts in the bytes of the project. */
  bytes: number;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/**
 * The current minute of each user with session tokens; all sessions of a user count together. Writer: the API, with
 * every request that carries a session token.
 */
export interface SessionRateLimits {
  user_id: number;
  window_ends_at: Date;
  /** Includes requests that were refused. */
  requests: number;
}

/**
 * Sessions. A session is live until it is ended or expires. No token is stored: both hashes are SHA-256 of random
 * bits. Writers: the API, and `admin set-password`, which ends them.
 */
export interface Sessions {
  id: Generated<string>;
  user_id: number;
  method: "password" | "link" | "oidc";
  /** The hash of what all refresh tokens of the session share: it identifies the session when a used one comes back. */
  family_hash: Buffer;
  /** The hash of the one refresh token that is valid now. */
  token_hash: Buffer;
  /** The address that used it last: an IPv4 address, or the first 64 bits of an IPv6 address. */
  network: string;
  user_agent: string;
  created_at: Generated<Date>;
  /** The sign-in, or the last refresh. */
  last_used_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
}

/**
 * One-time links. `token_hash` is SHA-256 of random bits. Writers: the API, `admin` and the start of the embedded
 * stack.
 */
export interface SignInLinks {
  token_hash: Buffer;
  user_id: number;
  /** `sign-in`: signs its user in. `password`: sets the user's password. */
  purpose: Generated<"sign-in" | "password">;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Date | null;
}

/**
 * Calls that a limit has stopped on one day: one row, however often a client retries. Writer: the function
 * `count_stop`; retention deletes old days.
 */
export interface SpendingStops {
  project_id: number;
  /** In UTC. */
  day: Date;
  /**
   * Whose limit: the project's `spending_limit`, a workflow's `max_run_cost`, or the `max_cost` of an agent or of
   * cases.
   */
  limited: "project" | "run" | "agent" | "cases";
  source: "run" | "chat";
  calls: number;
  last_run_id: string | null;
  last_at: Date;
}

/**
 * Bytes that transactions add to a project. Writers: the triggers `count_bytes_of_*`; `foldStoredBytes` deletes the
 * rows.
 */
export interface StoredByteChanges {
  project_id: number;
  bytes: number;
}

/**
 * The bytes that a project stores, without the rows of `stored_byte_changes`. A project without a row stores nothing.
 * Writer: `foldStoredBytes` in the API.
 */
export interface StoredBytes {
  project_id: number;
  bytes: number;
}

/**
 * The limit of bytes that a project may store, in at most one row. Without it there is no limit. Writer: the API,
 * when it starts.
 */
export interface StoredBytesLimit {
  is_only: Generated<boolean>;
  bytes: number;
}

/**
 * The graphs that the runs of a project have executed: a graph is stored once, and counts once for each project. The
 * row stays, as the runs do. Writer: a trigger on `runs`.
 */
export interface StoredGraphs {
  project_id: number;
  hash: Buffer;
  bytes: number;
}

/** The tested node and the mode of a test run. Writer: the acceptance of test runs. */
export interface TestRuns {
  run_id: string;
  mode: "node" | "up_to" | "from" | "case";
  /** The node that is tested. */
  node_id: string;
  /** True: waits for a time are over at once, delays between attempts too. */
  skips_waits: boolean;
  /** The most that the run and those below it may cost; null: no limit. */
  max_cost_usd: string | null;
  /** The run of the assistant in the editor that has asked for it; it is cancelled with that run. */
  asked_by: string | null;
}

/**
 * Runs that MCP clients have started as tasks. Writer: the acceptance of MCP calls, in one transaction with the run;
 * retention deletes the row with the results of the run.
 */
export interface ToolTasks {
  user_id: number;
  created_at: Generated<Date>;
  run_id: string;
}

/**
 * Hashes of passwords, apart from `users` so that nobody reads a hash along with a name. Writers: the API and
 * `admin`.
 */
export interface UserPasswords {
  user_id: number;
  /** `$scrypt$ln=..,r=..,p=..$salt$hash`, with the parameters of the day on which it was set. */
  hash: string;
  changed_at: Generated<Date>;
}

/**
 * The people. Writers: `admin`, the first start of the embedded stack, and the API (administrators, sign-ins through
 * an identity provider).
 */
export interface Users {
  id: Generated<number>;
  name: string;
  /** As the user writes it, unique without regard to case. A user without one cannot sign in with a password. */
  email: string | null;
  /** May manage users and the limits of keys. It gives no access to projects of others. */
  is_admin: Generated<boolean>;
  /** False: keys, tokens and sign-ins are refused, and hooks are unknown. */
  is_active: Generated<boolean>;
  api_access: Generated<boolean>;
  created_at: Generated<Date>;
}

/**
 * Nodes that wait. Writers: the worker starts and ends waits, and makes tokens. The API accepts a callback (one
 * guarded update: the first one counts), notes that people have answered or that a child run has ended, and starts
 * the waits of a resumed run for runs that it resumes. Who makes a connection ready ends the waits for it. Retention
 * deletes the waits of runs whose results have expired.
 */
export interface Waits {
  run_id: string;
  path: string;
  node_id: string;
  /**
   * The number of the agent's tool call that waits, from 1 over all turns; 0 for the node itself; -1, -2 and so on
   * for waits for a connection or for a worker, one after the other.
   */
  call: Generated<number>;
  kind: "time" | "callback" | "human" | "child" | "connection" | "worker";
  /** The run that the node has started (kind `child`). */
  child_run_id: string | null;
  /** The connection that the node waits for since `started_at` (kind `connection`). */
  connection_id: number | null;
  started_at: Date | null;
  /** When the wait ends; null while the node has not started, and only its token was asked for. */
  until: Date | null;
  /** SHA-256 of the token in the callback's address; null where nobody needs one. */
  token_hash: Buffer | null;
  token_enc: Buffer | null;
  /** The body of the accepted callback, sealed. */
  answer_enc: Buffer | null;
  /** When the answer or the event came that the node waits for; null for a wait for a time. */
  answered_at: Date | null;
  /** When the run workflow took the signal. The API repeats the signal while it is null. */
  signalled_at: Date | null;
  next_signal_at: Date | null;
  /** How many further signals the API has sent; `next_signal_at` is the time of the next one, null for at once. */
  signal_attempts: Generated<number>;
  /** When the wait ended. Later answers are refused. */
  closed_at: Date | null;
  /** The pool for whose workers the node waits since `started_at` (kind `worker`). The API starts and ends such waits. */
  pool: string | null;
}

/**
 * The outbox of webhook events, which is also their delivery log. Writers: whoever writes an event
 * (`enqueueWebhookEvent` and the function `tell_budget_reached`, insert only), and webhook delivery in the API;
 * retention deletes settled rows.
 */
export interface WebhookDeliveries {
  /** The `webhook-id` of every attempt. */
  id: Generated<string>;
  /** The order of a run's events: given under the lock of the run's row, so it is also the order of the commits. */
  ordinal: Generated<number>;
  project_id: number;
  /** Null for an event of the project. */
  run_id: string | null;
  type: WebhookEventType;
  /** Text: each attempt sends and signs the same bytes. */
  payload: string;
  /** `failed`: given up after the last attempt. `dropped`: the webhook was switched off, unset or deleted first. */
  status: Generated<"pending" | "delivered" | "failed" | "dropped">;
  /** How many attempts have started. */
  attempts: Generated<number>;
  /** The status of the last attempt's answer; null if it got no answer. */
  response_status: number | null;
  /** Why the last attempt failed, or why the event was dropped. */
  error_code: string | null;
  created_at: Generated<Date>;
  /** When a person last asked to send the settled event again, which makes one more attempt without retries. */
  sent_again_at: Date | null;
  /** Null once the event is settled. */
  next_attempt_at: Generated<Date | null>;
  /** Until then an attempt is under way; later its process counts as dead. */
  leased_until: Date | null;
  /** When the attempt succeeded. */
  delivered_at: Date | null;
}

/** Worker processes, and when each of them was alive. Writer: the worker. The API deletes old rows. */
export interface Workers {
  id: string;
  pool: string;
  /** The build of a versioned worker. */
  build_id: string | null;
  started_at: Generated<Date>;
  seen_at: Generated<Date>;
  /** When it began to stop; it takes no nodes from then on. */
  stopped_at: Date | null;
}

/** The categories of workflows. Writer: the API. */
export interface WorkflowCategories {
  workflow_id: number;
  category_id: number;
}

/**
 * Changes by runs to the figures of their workflows. Writers: triggers on `runs` and `billing_transactions`; the API
 * folds the rows into `workflow_totals` and deletes them.
 */
export interface WorkflowChanges {
  workflow_id: number;
  recorded_count: Generated<number>;
  run_count: Generated<number>;
  finished_count: Generated<number>;
  duration_seconds: Generated<string>;
  cost_usd: Generated<string>;
  last_run_id: string | null;
  last_run_at: Date | null;
}

/** Unsaved drawings, one for each user and workflow. Writer: the API; retention deletes old ones. */
export interface WorkflowDrafts {
  workflow_id: number;
  user_id: number;
  /** Secrets masked, as in `workflows.document`. */
  document: JsonOf<Record<string, unknown>>;
  /** The secrets cut out of the document, sealed. A mask without one stands for the secret of the saved drawing. */
  secrets_enc: Buffer | null;
  /** The version of the drawing from which the draft began. */
  base_version: number;
  /** Changes with each write, and differs from that of any earlier draft. */
  tag: Generated<string>;
  updated_at: Generated<Date>;
  /** The run of the assistant in the editor that has written it last; null if the user did. */
  written_by: string | null;
}

/** Workflows, with the present version of their drawings. Writer: the API. */
export interface Workflows {
  id: Generated<number>;
  project_id: number;
  author_id: number;
  title: string;
  /** The position in the project, from 1. */
  sort_id: number;
  /** The drawing as it leaves the service: every secret in it is `********`. */
  document: JsonOf<Record<string, unknown>>;
  /** The secrets cut out of `document`, sealed (graph/secrets.ts lists the places). */
  secrets_enc: Buffer | null;
  /** The version of the drawing, from 1, which rises with each change of what it runs. */
  version: Generated<number>;
  /** The author of the version; null: the workflow's author. */
  version_author_id: number | null;
  version_created_at: Generated<Date>;
  /** Rises with each change of the record except its position in the project. It is the `ETag`. */
  revision: Generated<number>;
  /**
   * The most that a run and the runs below it may cost; null: no limit. Duplicates keep it, copies from the
   * marketplace do not.
   */
  max_run_cost_usd: string | null;
  /** True: MCP clients are offered it as a tool. */
  is_tool: Generated<boolean>;
  /**
   * The `input_fields` of a tool's trigger, as in `document`, written with it; null where they are too large to be
   * listed.
   */
  tool_fields: JsonOf<unknown> | null;
  /** True: people and chat clients may talk to it. */
  is_chat: Generated<boolean>;
  /** The connections that `document` names. */
  connection_ids: Generated<number[]>;
  market_title: Generated<string>;
  short_description: Generated<string>;
  available_languages: Generated<string[]>;
  readme_guide: Generated<string>;
  run_fee_usd: Generated<string>;
  free_runs_per_user: Generated<number>;
  is_published: Generated<boolean>;
  slug: string | null;
  first_published_at: Date | null;
  last_published_at: Date | null;
  /** The drawing of the template run as it was published: copies are made of it. */
  published_snapshot: Buffer | null;
  copied_from: number | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  archived_at: Date | null;
  /** Words by which people find it. Copies in the same project keep them. */
  tags: Generated<string[]>;
  /** The services whose actions `document` names. */
  service_ids: Generated<string[]>;
}

/**
 * The figures of each workflow: `workflow_totals` with the rows of `workflow_changes` added. Runs with the status
 * `Draft` count in `recorded_count` only.
 */
export interface WorkflowStatistics {
  workflow_id: ColumnType<number, never, never>;
  /** All runs that were ever inserted, drafts too; none is ever deleted. */
  recorded_count: ColumnType<number, never, never>;
  run_count: ColumnType<number, never, never>;
  /** Runs that have a duration. */
  finished_count: ColumnType<number, never, never>;
  total_duration_seconds: ColumnType<string, never, never>;
  total_cost_usd: ColumnType<string, never, never>;
  last_run_id: ColumnType<string | null, never, never>;
  last_run_at: ColumnType<Date | null, never, never>;
}

/**
 * The figures of each workflow, without the rows of `workflow_changes`. Writers: a trigger on `workflows` inserts the
 * row, the API folds the changes into it.
 */
export interface WorkflowTotals {
  workflow_id: number;
  recorded_count: Generated<number>;
  run_count: Generated<number>;
  finished_count: Generated<number>;
  total_duration_seconds: Generated<string>;
  total_cost_usd: Generated<string>;
  last_run_id: string | null;
  last_run_at: Date | null;
}

/**
 * The versions of a drawing before the present one, which is in `workflows` alone. Immutable. Writer: the API;
 * retention deletes those of archived workflows.
 */
export interface WorkflowVersions {
  workflow_id: number;
  version: number;
  author_id: number;
  /** Secrets masked, as it was when the next version replaced it. */
  document: JsonOf<Record<string, unknown>>;
  secrets_enc: Buffer | null;
  created_at: Date;
}

export interface DB {
  agent_sessions: AgentSessions;
  agent_tool_calls: AgentToolCalls;
  agent_turns: AgentTurns;
  announced_iterations: AnnouncedIterations;
  answer_baselines: AnswerBaselines;
  api_keys: ApiKeys;
  approval_decisions: ApprovalDecisions;
  approval_requests: ApprovalRequests;
  audit_chains: AuditChains;
  audit_records: AuditRecords;
  audit_refusals: AuditRefusals;
  billing_transactions: BillingTransactions;
  bookmarks: Bookmarks;
  budgets_reached: BudgetsReached;
  case_results: CaseResults;
  case_runs: CaseRuns;
  cases: Cases;
  categories: Categories;
  chat_calls: ChatCalls;
  connection_sign_ins: ConnectionSignIns;
  connection_uses: ConnectionUses;
  connections: Connections;
  conversation_messages: ConversationMessages;
  conversations: Conversations;
  file_copies: FileCopies;
  file_references: FileReferences;
  file_store: FileStore;
  files: Files;
  fixed_results: FixedResults;
  graph_snapshots: GraphSnapshots;
  hook_windows: HookWindows;
  hooks: Hooks;
  human_answers: HumanAnswers;
  human_tasks: HumanTasks;
  idempotency_keys: IdempotencyKeys;
  login_failures: LoginFailures;
  login_waits: LoginWaits;
  loop_items: LoopItems;
  loop_progress: LoopProgress;
  marketplace_copies: MarketplaceCopies;
  marketplace_usage: MarketplaceUsage;
  node_attempts: NodeAttempts;
  node_results: NodeResults;
  oidc_identities: OidcIdentities;
  pins: Pins;
  pool_nodes: PoolNodes;
  project_members: ProjectMembers;
  projects: Projects;
  provider_calls: ProviderCalls;
  provider_keys: ProviderKeys;
  rate_limits: RateLimits;
  refused_tools: RefusedTools;
  routine_files: RoutineFiles;
  run_deltas: RunDeltas;
  run_events: RunEvents;
  run_outputs: RunOutputs;
  run_watches: RunWatches;
  runs: Runs;
  schedule_firings: ScheduleFirings;
  schedule_removals: ScheduleRemovals;
  schedules: Schedules;
  service_actions: ServiceActions;
  services: Services;
  session_rate_limits: SessionRateLimits;
  sessions: Sessions;
  sign_in_links: SignInLinks;
  spending_stops: SpendingStops;
  stored_byte_changes: StoredByteChanges;
  stored_bytes: StoredBytes;
  stored_bytes_limit: StoredBytesLimit;
  stored_graphs: StoredGraphs;
  test_runs: TestRuns;
  tool_tasks: ToolTasks;
  user_passwords: UserPasswords;
  users: Users;
  waits: Waits;
  webhook_deliveries: WebhookDeliveries;
  workers: Workers;
  workflow_categories: WorkflowCategories;
  workflow_changes: WorkflowChanges;
  workflow_drafts: WorkflowDrafts;
  workflow_statistics: WorkflowStatistics;
  workflow_totals: WorkflowTotals;
  workflow_versions: WorkflowVersions;
  workflows: Workflows;
}
