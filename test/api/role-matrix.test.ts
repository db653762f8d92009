import assert from 'node:assert/strict';
import PQueue from 'p-queue';
import { routes } from '../../api/app.js';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { lines, RUN_SCOPE, type Line, type Outcome } from './role-matrix-lines.js';
import { createWorlds, PEOPLE, type Credentials, type Person, type World, type Worlds } from './role-matrix-world.js';

/** `revoked` is an owner without API access. Only keys need API access, so with a session `revoked` ranks as owner. */
const RANK = { viewer: 0, editor: 1, admin: 2, owner: 3, revoked: 3, inside: 3 };

/**
 * A caller and its credential, for example "viewer by key". `nobody` sends no credential, and `workers` the internal
 * service token. `inside` and `outside` are an owner of the project; the key of `inside` is restricted to the project,
 * that of `outside` to another one. `run` and `read` are an owner with a key of that scope.
 */
interface Asker {
  name: string;
  who: Person | 'nobody' | 'workers' | 'inside' | 'outside' | 'run' | 'read';
  by: keyof Credentials;
}

/**
 * Routes that succeed without a change: the approval is unknown in every world, and the caller (the owner) is already
 * the author of the workflow to copy.
 */
const CHANGES_NOTHING = [
  'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/approve/',
  'POST /api/v1/workflows/workflow_run/:workflow_run_id/agent-approval/:request_id/reject/',
  'POST /api/v1/workflows/marketplace/:slug/add-from-marketplace/',
];

describe('role matrix', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let worlds: Worlds;
  let internalToken: string;

  before(async () => {
    stack = await sharedStack();
    worlds = await createWorlds(stack);
    internalToken = readSecrets(stack.dataDir)!.INTERNAL_SERVICE_TOKEN;
  });
  after(() => worlds.close());

  it('every route of the service has a line, and every line a route', () => {
    const declared = routes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(lines.map(({ route }) => route).toSorted(), declared.toSorted());
  });

  for (const line of lines) {
    it(`${line.route} is ${titleOf(line)}`, async () => {
      const askers = askersOf(line);
      const untouched = await worlds.create();
      // A client that tries several passwords at once is throttled, so the callers of an open route take turns.
      const queue = new PQueue({ concurrency: line.for === 'open' ? 1 : askers.length });
      const outcomes = await queue.addAll(
        askers.map((asker) => async () => {
          const leavesAll = line.route.startsWith('GET ') || expected(line, asker) !== line.answer;
          return [asker.name, await ask(line, asker, leavesAll ? untouched : await worlds.create())];
        }),
      );
      assert.deepEqual(
        outcomes,
        askers.map((asker) => [asker.name, expected(line, asker)]),
      );
    });
  }

  for (const scope of ['run', 'read'] as const) {
    it(`a key of the scope ${scope} reaches the routes of its scope; all others answer 403 \`key_scope\``, async () => {
      const world = await worlds.create();
      const reached: string[] = [];
      for (const line of lines.filter(takesKeys)) {
        const outcome = await ask(line, { name: scope, who: scope, by: 'key' }, world);
        if (outcome !== '403 key_scope') reached.push(line.route);
      }
      const ofRead = lines.filter(takesKeys).map(({ route }) => route);
      const expectedRoutes: readonly string[] =
        scope === 'run' ? RUN_SCOPE : [...ofRead.filter((route) => route.startsWith('GET ')), 'POST /mcp/build/'];
      assert.deepEqual(reached.toSorted(), expectedRoutes.toSorted());
    });
  }
  describe('leaves in the audit log', () => {
    for (const line of lines) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === line.route);
      const rule = route?.audit;
      if (rule === undefined || line.for === 'open') continue;
      const isRecorded = rule.records !== 'refusals';
      const isChanged = isRecorded && line.answer.startsWith('2') && !CHANGES_NOTHING.includes(line.route);
      const isOfAdministrators = line.for === 'administrator';

      if (isChanged) {
        it(`${line.route}: one record of the change, with the caller as its actor`, async () => {
          const who = isOfAdministrators ? 'administrator' : 'owner';
          const asker: Asker = { name: who, who, by: 'session' };
          const { outcome, records } = await askAndRead(line, asker);
          assert.deepEqual([outcome, records], [line.answer, [`${rule.action} success`]]);
        });
      }

      if (line.for === 'anyone') continue;
      it(`${line.route}: one record of the refusal, with the caller as its actor`, async () => {
        for (const who of isOfAdministrators ? (['owner'] as const) : (['stranger', 'viewer'] as const)) {
          const asker: Asker = { name: who, who, by: line.sessionOnly === true ? 'session' : 'key' };
          if (expected(line, asker) === line.answer) continue;
          const { outcome, records } = await askAndRead(line, asker);
          const refusal: Outcome = expected(line, asker);
          // A caller without valid credentials is asked to authenticate, which is not recorded as a refusal.
          const left: string[] = refusal.startsWith('401') ? [] : [`${rule.action} refused`];
          assert.deepEqual([outcome, records], [refusal, left], who);
        }
      });
    }

    async function askAndRead(line: Line, asker: Asker): Promise<{ outcome: Outcome; records: string[] }> {
      const world = await worlds.create();
      const { key } = worlds.credentials[asker.who as Person];
      // All requests come from one address. Above 60 refusals a minute, the refusals of an address share one record.
      await queryDatabase(stack, 'DELETE FROM audit_refusals');
      const [last] = await queryDatabase<{ id: string }>(stack, 'SELECT coalesce(max(id), 0) AS id FROM audit_records');
      const outcome = await ask(line, asker, world);
      const rows = await queryDatabase<{ record: string }>(
        stack,
        `SELECT action || ' ' || outcome AS record FROM audit_records WHERE id > $1
           AND actor_id = (SELECT user_id FROM api_keys WHERE key_hash = sha256(convert_to($2, 'UTF8')))`,
        [last!.id, key],
      );
      return { outcome, records: rows.map(({ record }) => record) };
    }
  });

  /**
   * Sends the request of the line. One that may change or delete something needs a `world` of its own, because later
   * requests use the same objects.
   */
  async function ask(line: Line, asker: Asker, world: World): Promise<Outcome> {
    const headers = headersOf(line, asker, world);
    const [method] = line.route.split(' ');
    const response = await fetch(`${stack.apiUrl}${pathOf(line, world)}`, {
      method: method!,
      redirect: 'manual',
      headers: { ...headers, ...line.headers, ...(line.body && { 'content-type': 'application/json' }) },
      ...(line.body && { body: JSON.stringify(line.body(world)) }),
    });
    const text = await response.text();
    if (response.status < 400) return `${response.status}`;
    const body = JSON.parse(text) as { code?: unknown; error?: { code?: unknown } };
    const code = body.code ?? body.error?.code;
    return typeof code === 'string' ? `${response.status} ${code}` : `${response.status}`;
  }

  function headersOf(line: Line, { who, by }: Asker, world: World): Record<string, string> {
    if (who === 'nobody') return {};
    if (who === 'workers') return { authorization: `Bearer ${internalToken}` };
    const credential = credentialOf(who, by, world);
    if (by === 'session' || line.keyIn === 'authorization') return { authorization: `Bearer ${credential}` };
    return { 'x-api-key': credential };
  }

  function credentialOf(who: Asker['who'], by: keyof Credentials, world: World): string {
    if (who === 'inside') return world.keyOfProject;
    if (who === 'run' || who === 'read') return worlds.keyOfScope[who];
    if (who === 'nobody' || who === 'workers') return '';
    return who === 'outside' ? worlds.keyOfOther : worlds.credentials[who][by];
  }
});

function takesKeys(line: Line): boolean {
  return line.for !== 'open' && line.for !== 'internal' && line.sessionOnly !== true;
}
function titleOf({ for: least, sessionOnly }: Line): string {
  if (least === 'open') return 'open to all';
  if (sessionOnly) return 'for sessions alone';
  if (least === 'anyone') return 'for anyone with API access';
  if (least === 'administrator') return 'for administrators alone';
  if (least === 'internal') return 'for the workers alone';
  return least === 'owner' ? 'for owners' : `for ${least}s and higher roles`;
}

function askersOf(line: Line): Asker[] {
  const credentials: (keyof Credentials)[] = line.keyIn === undefined ? ['key', 'session'] : ['key'];
  const people = PEOPLE.flatMap((who) => credentials.map((by) => ({ name: `${who} by ${by}`, who, by })));
  return [
    { name: 'nobody', who: 'nobody', by: 'key' },
    { name: 'workers', who: 'workers', by: 'session' },
    { name: 'owner by a key of the project', who: 'inside', by: 'key' },
    { name: 'owner by a key of another project', who: 'outside', by: 'key' },
    ...people,
  ];
}

function expected(line: Line, { who, by }: Asker): Outcome {
  if (line.for === 'open') return line.answer;
  if (line.for === 'internal' && who === 'workers') return line.answer;
  // The chat proxy answers a missing and a wrong credential with the same error code.
  if (line.route.includes(' /v1/') && (who === 'nobody' || who === 'workers')) return '401 invalid_api_key';
  if (who === 'nobody' || (line.for === 'internal' && by === 'key')) return '401 not_authenticated';
  if (who === 'workers' || line.for === 'internal') return '401 authentication_failed';
  // Only keys need API access, and `sessionOnly` routes refuse keys.
  if (by === 'key' && (who === 'revoked' || line.sessionOnly)) return '403 permission_denied';
  if (line.restricted !== undefined && (who === 'inside' || who === 'outside')) return line.restricted;
  if (line.for === 'anyone') return line.answer;
  if (line.for === 'administrator') return who === 'administrator' ? line.answer : '403 permission_denied';
  if (who === 'outside') return line.outside ?? line.stranger ?? '403 key_project';
  if (who === 'stranger' || who === 'administrator') return line.stranger ?? '404 not_found';
  if (who === 'run' || who === 'read') return '403 key_scope';
  return RANK[who] >= RANK[line.for] ? line.answer : (line.refusal ?? '403 permission_denied');
}

function pathOf({ route, params, query }: Line, world: World): string {
  const path = route.slice(route.indexOf('/'));
  const ids: Record<string, string> = {
    id: String(path.startsWith('/api/v1/projects/') ? world.project : world.workflow),
    run_id: world.run,
    workflow_run_id: world.run,
    request_id: 'unknown',
    slug: world.slug,
    ...params?.(world),
  };
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? assert.fail(`${route}: no ${name}`));
  return query === undefined ? filled : `${filled}?${query(world)}`;
}
