// Starts the stack under the limits of docker-compose.yml, opens accounts on it, and replaces its API and worker after a
// failed round.
import path from 'node:path';
import { freePort } from '../../../harness/processes/free-port.js';
import { createAccount, openSession } from '../../api/accounts.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import type { FakeModelProvider } from '../../../harness/target/fake-model-provider.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase, withTemporal } from '../../support/inspect.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import type { AccountAt } from './attack.js';
import { makeMemoryGroup, makeProcessorGroup, type Group } from '../../../harness/processes/cgroups.js';
import { PARTS, readLimits, type Part } from './limits.js';
import type { Watched } from './memory-watch.js';
import { createVictim, type Victim } from './victim.js';

export interface World extends Watched {
  stack: StartedStack;
  victim: Victim;
  /** The control group that limits the attackers; undefined if the machine has no control groups. */
  attackerGroup: Group | undefined;
  openAccount: () => Promise<AccountAt>;
  /** Ends the runs and schedules of these accounts. */
  closeAccounts: (accounts: AccountAt[]) => Promise<void>;
  /** Replaces the processes of the API and the worker. */
  restart: () => Promise<void>;
  close: (options: { keep: boolean }) => Promise<void>;
}

/** The share of one processor that all attackers of a round have together. */
const ATTACKER_SHARE = 0.5;
/** Requests a minute: as many as a user has with a hundred keys of sixty each. */
const RATE_LIMIT = 6_000;
const TERMINATE_AT_ONCE = 20;
const PRELOAD = path.join(import.meta.dirname, 'under-limits.mjs');

export async function startWorld(): Promise<World> {
  const limits = readLimits();
  const groups: Partial<Record<Part, Group>> = {};
  for (const part of PARTS) {
    const group = makeMemoryGroup(part, limits[part].memoryMiB);
    if (group !== undefined) groups[part] = group;
  }
  const attackerGroup = makeProcessorGroup('attackers', ATTACKER_SHARE);
  const removeGroups = (): void => {
    for (const group of [groups.api, groups.worker, attackerGroup]) group?.remove();
  };
  const target = await startHttpTarget();
  const metricsPort = await freePort();
  const stack = await startStack({
    env: {
      NODE_OPTIONS: `--import file://${PRELOAD}`,
      HOSTILE_API_OPTIONS: limits.api.nodeOptions,
      HOSTILE_API_GROUP: groups.api?.procsFile ?? '',
      HOSTILE_WORKER_OPTIONS: limits.worker.nodeOptions,
      HOSTILE_WORKER_GROUP: groups.worker?.procsFile ?? '',
      WORKER_METRICS_PORT: String(metricsPort),
    },
  }).catch(async (error: unknown) => {
    await target.close();
    removeGroups();
    throw error;
  });
  scriptModels(stack.modelProvider);
  const readyUrls = [`${stack.apiUrl}/readyz`, `http://127.0.0.1:${metricsPort}/readyz`];
  const untilReady = async (): Promise<void> => {
    for (const url of readyUrls) {
      const isReady = async (): Promise<boolean> => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok;
      await eventually(isReady, { timeoutMs: 120_000, intervalMs: 200 });
    }
  };
  const openAccount = async (rateLimit = RATE_LIMIT): Promise<AccountAt> => {
    const account = await createAccount(stack, rateLimit);
    const { session } = await openSession(stack, account);
    const projectId = await account.api.createProject('tenant');
    return { apiUrl: stack.apiUrl, apiKey: account.apiKey, sessionToken: session, projectId };
  };
  return {
    stack,
    limits,
    groups,
    attackerGroup,
    victim: await createVictim(await openAccount(1_000_000), target),
    pidOf: (part) => stack.stack.pids[part],
    openAccount,
    closeAccounts: (accounts) => closeAccounts(stack, accounts),
    async restart() {
      const before = { ...stack.stack.pids };
      for (const part of PARTS) if (before[part] !== undefined) process.kill(before[part], 'SIGKILL');
      await eventually(() => PARTS.every((part) => ![undefined, before[part]].includes(stack.stack.pids[part])), {
        timeoutMs: 60_000,
      });
      await untilReady();
    },
    async close({ keep }) {
      try {
        await stack.stop({ keep });
      } finally {
        await target.close();
        removeGroups();
      }
    },
  };
}

/** Scripts the models that the attackers' drawings call. */
function scriptModels(model: FakeModelProvider): void {
  model.script('hostile-slow', { delayMs: 600_000 });
  model.script('hostile-pause', { delayMs: 1_000 });
  model.script('hostile-form', { text: '{"a":[1,2,3]}' });
  model.script('hostile-agent', ({ body }) => {
    const tools = body['tools'] as { function: { name: string } }[] | undefined;
    return tools?.[0] === undefined ? {} : { toolCalls: [{ name: tools[0].function.name, arguments: {} }] };
  });
}

async function closeAccounts(stack: StartedStack, accounts: AccountAt[]): Promise<void> {
  const projects = accounts.map(({ projectId }) => projectId);
  const text = `SELECT id FROM runs WHERE project_id = ANY($1) AND status = 'In Progress'`;
  const open = await queryDatabase<{ id: string }>(stack, text, [projects]);
  // Deleting the project ends its hooks and schedules.
  for (const { apiUrl, apiKey, projectId } of accounts)
    await createApiClient(apiUrl, apiKey)
      .delete(`/projects/${projectId}/`)
      .catch(() => undefined);
  await withTemporal(stack, async ({ workflow }) => {
    const left = open.map(({ id }) => id);
    const end = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        // Temporal refuses to terminate a run that was not started yet or has ended meanwhile.
        await workflow
          .getHandle(id)
          .terminate('the attack is over')
          .catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: TERMINATE_AT_ONCE }, end));
  });
}
