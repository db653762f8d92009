// Creates the objects for role-matrix.test.ts: one set of users, and a `World` (a project and the objects in it) for
// each request that may change something.
import { randomUUID } from 'node:crypto';
import { sealScheduleInput } from '../../acceptance/schedule-input.js';
import { sealInputs } from '../../api/conversations/conversation-inputs.js';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { reserveId } from '../../db/core/reserve-id.js';
import { createSecretBox, type SecretBox } from '../../db/core/secret-box.js';
import { insertConversation } from '../../db/conversations/conversations-repository.js';
import { insertService } from '../../db/services/services-repository.js';
import { createKey } from '../../db/access/keys-repository.js';
import { hashToken, randomToken } from '../../db/core/random-token.js';
import { storeSnapshot } from '../../db/runs/snapshots-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { Role } from '../../db/core/tables.js';
import { chain } from '../../harness/drawing/drawing.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { changeUser, createAccount, openSession, restrictedTo, revokeAccess, type Account } from './accounts.js';

/**
 * The first four are project members, named by their roles. `revoked` is an owner whose API access was withdrawn.
 * `stranger` and `administrator` are no members; `administrator` may manage users.
 */
export const PEOPLE = ['owner', 'admin', 'editor', 'viewer', 'stranger', 'administrator', 'revoked'] as const;
export type Person = (typeof PEOPLE)[number];

const ACTION = {
  id: 'list',
  position: 0,
  title: 'List',
  description: '',
  method: 'GET',
  path: '/things',
  server: 'https://things.example.com',
  has_side_effects: false,
  fields: { type: 'object', properties: {}, required: [] },
  result: null,
  documentation_url: null,
};

export interface Credentials {
  key: string;
  session: string;
}

export interface World {
  project: number;
  /** A workflow that can be published. */
  workflow: number;
  /** A succeeded run of `workflow`. The run is a marketplace example and the marketplace template. */
  run: string;
  /** A succeeded node of `run`. */
  node: string;
  /** An expired approval request of `run`. */
  request: string;
  /** An expired human task of `run`. */
  task: string;
  /** The slug of a second workflow of the project, which is published on the marketplace. */
  slug: string;
  /** A succeeded run of the published workflow. The run is a marketplace example. */
  publishedRun: string;
  /** A viewer of the project who sends no requests. */
  member: number;
  /** A user who is no member of the project. */
  newcomer: number;
  /** A key that is restricted to the project. Its user is another owner of the project. */
  keyOfProject: string;
  /** A dropped delivery of an event of `run`. */
  delivery: string;
  /** A hook of `workflow` in the owner's name, which requires no signatures. */
  hook: { id: number; token: string };
  schedule: string;
  /** A connection of the project for which nobody has signed in. */
  connection: number;
  /** A service of the project with the action `list`. No drawing uses the service. */
  service: string;
  /** An uploaded file that no run or drawing refers to. Its bytes are not stored. */
  file: string;
  /** A conversation of the owner with `workflow`. */
  conversation: string;
}

export interface Worlds {
  credentials: Record<Person, Credentials>;
  /** A key of the same user as `World.keyOfProject`, restricted to another project of this user. */
  keyOfOther: string;
  create: () => Promise<World>;
  /** Keys by their scope. Their user is an owner of the project of every world. */
  keyOfScope: Record<'run' | 'read', string>;
  close: () => Promise<void>;
}

export async function createWorlds(stack: TestStack): Promise<Worlds> {
  const db = createDatabase({
    url: stack.stack.database_url,
    poolMax: 4,
    // Hundreds of test cases share the four connections, so on a busy machine a case may wait long for one.
    connectTimeoutMs: 60_000,
    applicationName: 'test',
    onError: () => undefined,
  });
  const accounts = {} as Record<Person, Account>;
  const credentials = {} as Record<Person, Credentials>;
  for (const person of PEOPLE) {
    const account = await createAccount(stack);
    accounts[person] = account;
    credentials[person] = { key: account.apiKey, ...(await openSession(stack, account)) };
  }
  await revokeAccess(stack, accounts.revoked);
  await changeUser(stack, accounts.administrator, { is_admin: true });
  const bystander = await createAccount(stack);
  const keeper = await createAccount(stack);
  const { apiKey: keyOfOther } = await restrictedTo(stack, await keeper.api.createProject(), keeper);
  const scoped = { userId: keeper.userId, label: 'role matrix', rateLimit: 1_000_000 };
  const keyOfScope = {
    run: (await createKey(db, { ...scoped, scope: 'run' })).apiKey,
    read: (await createKey(db, { ...scoped, scope: 'read' })).apiKey,
  };
  const members: [Account, Role][] = [
    [accounts.owner, 'owner'],
    [accounts.admin, 'admin'],
    [accounts.editor, 'editor'],
    [accounts.viewer, 'viewer'],
    [accounts.revoked, 'owner'],
    [bystander, 'viewer'],
    [keeper, 'owner'],
  ];
  const drawing = chain(1);
  const compiled = compilePlan(drawing);
  if (!compiled.ok) throw new Error('the drawing of the role matrix does not compile');
  const document = JSON.stringify(drawing);
  const snapshot = await storeSnapshot(db, document, compiled.plan);
  const node = drawing.start_node;
  const secretBox = createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);
  return {
    credentials,
    keyOfOther,
    keyOfScope,
    async create() {
      const facts = { members, document, snapshot, node, secretBox };
      const world = await db.transaction().execute((trx) => createWorld(trx, facts));
      const key = { userId: keeper.userId, projectId: world.project, label: 'role matrix', rateLimit: 1_000_000 };
      const { apiKey: keyOfProject } = await createKey(db, key);
      return { ...world, member: bystander.userId, newcomer: accounts.stranger.userId, keyOfProject };
    },
    close: () => db.destroy(),
  };
}

interface Facts {
  members: [Account, Role][];
  document: string;
  snapshot: Buffer;
  node: string;
  secretBox: SecretBox;
}

async function createWorld(db: Database, { members, document, snapshot, node, secretBox }: Facts) {
  const userId = members[0]![0].userId;
  const { id: project } = await db
    .insertInto('projects')
    .values({ name: 'role matrix', created_by: userId })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('project_members')
    .values(members.map(([account, role]) => ({ project_id: project, user_id: account.userId, role })))
    .execute();
  const slug = `matrix-${randomUUID()}`;
  const workflow = {
    project_id: project,
    author_id: userId,
    title: 'role matrix',
    document,
    market_title: slug,
    short_description: 'short',
    available_languages: ['en'],
  };
  const [draft, published] = await db
    .insertInto('workflows')
    .values([
      { ...workflow, sort_id: 1 },
      {
        ...workflow,
        sort_id: 2,
        is_published: true,
        slug,
        last_published_at: new Date(),
        published_snapshot: snapshot,
      },
    ])
    .returning('id')
    .execute();
  const [run, publishedRun] = [randomUUID(), randomUUID()];
  const finished = {
    project_id: project,
    user_id: userId,
    status: 'Succeeded' as const,
    snapshot_hash: snapshot,
    input: '{}',
    use_in_marketplace_example: true,
    use_as_marketplace_template: true,
    run_started_at: new Date(),
    run_finished_at: new Date(),
  };
  await db
    .insertInto('runs')
    .values([
      { ...finished, id: run, workflow_id: draft!.id },
      { ...finished, id: publishedRun, workflow_id: published!.id },
    ])
    .execute();
  const event = { type: 'workflow_run.succeeded' as const, payload: '{}', status: 'dropped' as const };
  const { id: delivery } = await db
    .insertInto('webhook_deliveries')
    .values({ ...event, project_id: project, run_id: run, next_attempt_at: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  const ended = { run_id: run, path: '', node_id: node, status: 'succeed' as const, finished_at: new Date() };
  await db
    .insertInto('node_results')
    .values({ ...ended, result: '{"content":""}', result_bytes: 14 })
    .execute();
  const request = randomUUID();
  const asked = { path: '', turn: 0, ordinal: 0, server_label: 'tools', tool_name: 'add', arguments: '{}' };
  const expired = { status: 'expired' as const, expires_at: new Date() };
  await db
    .insertInto('approval_requests')
    .values({ ...asked, ...expired, request_id: request, run_id: run, project_id: project, node_id: node })
    .execute();
  const { task_id: task } = await db
    .insertInto('human_tasks')
    .values({
      run_id: run,
      path: '',
      node_id: node,
      project_id: project,
      node_label: 'Ask',
      message: 'Well?',
      fields: '[]',
      files: '[]',
      actions: '[{"id":"done","label":"Done"}]',
      roles: ['owner', 'admin', 'editor'],
      users: [],
      exclude_starter: false,
      required: 1,
      status: 'expired',
      expires_at: new Date(),
      settled_at: new Date(),
    })
    .returning('task_id')
    .executeTakeFirstOrThrow();
  const token = randomToken();
  const hookId = await reserveId(db, 'hooks');
  const sealed = { token_hash: hashToken(token), token_enc: secretBox.seal(token, 'hook-token', hookId) };
  await db
    .insertInto('hooks')
    .values({ ...sealed, id: hookId, workflow_id: draft!.id, author_id: userId, verify: 'none' })
    .execute();
  const hook = { id: hookId, token };
  const [file, copy] = [randomUUID(), randomUUID()];
  await db
    .insertInto('file_copies')
    .values({
      id: copy,
      project_id: project,
      name: copy,
      status: 'stored',
      sha256: Buffer.alloc(32),
      seal: Buffer.alloc(36),
    })
    .execute();
  await db
    .insertInto('files')
    .values({
      id: file,
      project_id: project,
      copy_id: copy,
      name: 'f',
      type: 'a/b',
      size: 0,
      sha256: Buffer.alloc(32),
      run_id: null,
      user_id: userId,
    })
    .execute();
  const connection = await reserveId(db, 'connections');
  await db
    .insertInto('connections')
    .values({
      id: connection,
      project_id: project,
      name: 'role matrix',
      kind: 'oauth2',
      origins: ['https://api.example.com'],
      settings: JSON.stringify({
        authorize_url: 'https://example.com/authorize',
        token_url: 'https://example.com/token',
        client_id: 'matrix',
        scopes: [],
      }),
      secrets_enc: secretBox.seal('{}', 'connection-secrets', project, connection),
      status: 'needs_authorization',
    })
    .execute();
  const made = await insertService(db, project, {
    name: 'Things',
    description: '',
    version: '1',
    documentationUrl: null,
    connectionKinds: [],
    actionCount: 1,
    lists: [JSON.stringify([ACTION])],
  });
  if (typeof made === 'string') throw new Error(made);
  const schedule = randomUUID();
  await db
    .insertInto('schedules')
    .values({
      id: schedule,
      workflow_id: draft!.id,
      author_id: userId,
      cron: '0 8 1 1 *',
      time_zone: 'UTC',
      input_enc: sealScheduleInput(secretBox, schedule, { input: { topic: 'cats' }, secretFieldIds: [] }),
      overlap: 'skip',
      jitter_seconds: 0,
      catchup_seconds: 300,
      is_paused: true,
    })
    .execute();
  const conversation = randomUUID();
  await db.updateTable('workflows').set({ is_chat: true }).where('id', '=', draft!.id).execute();
  await insertConversation(db, {
    id: conversation,
    workflowId: draft!.id,
    projectId: project,
    authorId: userId,
    title: 'matrix',
    purpose: 'chat' as const,
    endUser: null,
    inputsEnc: sealInputs(secretBox, conversation, {}, { document: {} }),
    fileIds: [],
  });
  return {
    project,
    workflow: draft!.id,
    run,
    node,
    request,
    task,
    slug,
    publishedRun,
    delivery,
    hook,
    schedule,
    connection,
    service: made.id,
    file,
    conversation,
  };
}
