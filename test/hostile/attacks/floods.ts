// Attacks by the number of requests.
import { setTimeout as pause } from 'node:timers/promises';
import { chain, drawing, trigger } from '../../../harness/drawing/drawing.js';
import type { Attack, Preparation } from '../harness/attack.js';
import { flood, repeat, send, type Tenant } from '../harness/tenant.js';
import { bodyAttacks } from './bodies.js';
import { drawingAttacks } from './drawings.js';
import { outsideAttacks } from './outside.js';

const MINUTE_MS = 60_000;
/** Schedules fire at the full minute, so the flood starts shortly before it. */
const BEFORE_FULL_MINUTE_MS = 6_000;

const smallWorkflow: Preparation = {
  name: 'a small workflow',
  make: async ({ api, projectId }) => ({ workflow: await api.createWorkflow(projectId, chain(3)) }),
};

async function scheduleEveryMinute({ api, projectId }: Tenant, workflows: number): Promise<void> {
  for (let made = 0; made < workflows; made += 1) {
    const workflow = await api.createWorkflow(projectId, drawing([trigger()]));
    for (let schedule = 0; schedule < 20; schedule += 1)
      await api.post(`/workflows/${workflow}/schedules/`, { body: { cron: '* * * * *', overlap: 'allow_all' } });
  }
}

/** The attacks that `all-together` plays at once. */
const TOGETHER = [
  'withheld-callbacks',
  'withheld-chats',
  'packed-mcp-lists',
  'patterns-in-loops',
  'targets-that-hang',
  'code-that-loops',
  'sign-in-floods',
];

export const floodAttacks: Attack[] = [
  {
    name: 'sign-in-floods',
    title: 'Sign-ins of unknown accounts, as many as fit, from one address.',
    heldBy: 'Passwords are compared beside the event loop, in a bounded line.',
    isShort: true,
    act: (tenant) =>
      flood(tenant, 60, (round) => ({
        as: 'stranger',
        path: '/api/v1/auth/login/',
        body: JSON.stringify({ email: `nobody-${round}@example.com`, password: 'correct horse battery' }),
      })),
  },
  {
    name: 'refused-requests',
    title: 'Requests that are refused: no credentials, wrong ones, objects of others.',
    heldBy: 'A refusal is one statement, and is recorded 60 times a minute.',
    act: (tenant) => {
      const paths = ['/api/v1/projects/1/', '/api/v1/workflows/1/', '/api/v1/projects/'];
      return flood(tenant, 40, (round) => ({
        as: round % 2 === 0 ? 'key' : 'stranger',
        method: 'PATCH',
        headers: round % 4 === 1 ? { 'x-api-key': `wrong-${round}` } : {},
        path: paths[round % paths.length]!,
        body: '{"name":"mine"}',
      }));
    },
  },
  {
    name: 'wrong-signatures',
    title: 'Deliveries to a hook with wrong signatures.',
    heldBy: '60 wrong signatures a minute and hook.',
    prepare: bodyAttacks.find(({ name }) => name === 'withheld-hooks')!.prepare!,
    act: (tenant, { signed }) =>
      flood(tenant, 40, {
        as: 'stranger',
        path: signed,
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body: JSON.stringify({ text: 'x'.repeat(100_000) }),
      }),
  },
  {
    name: 'run-starts',
    title: 'Run starts of four tenants as fast as they are answered.',
    heldBy: 'The limit of the key; starts have slots.',
    tenants: 4,
    prepare: { ...smallWorkflow, name: 'four small workflows' },
    act: (tenant, { workflow }) => flood(tenant, 10, { path: `/api/v1/workflows/${workflow}/run/`, body: '{}' }),
  },
  {
    name: 'run-starts-by-session',
    title: 'Run starts of one session as fast as they are answered.',
    heldBy: 'The limit of sessions.',
    prepare: smallWorkflow,
    act: (tenant, { workflow }) =>
      flood(tenant, 40, { as: 'session', path: `/api/v1/workflows/${workflow}/run/`, body: '{"input_data":{}}' }),
  },
  {
    name: 'one-idempotency-key',
    title: 'Run starts of four tenants that all name one idempotency key.',
    heldBy: 'One row decides; the limit of the key.',
    tenants: 4,
    prepare: { ...smallWorkflow, name: 'four small workflows' },
    act: (tenant, { workflow }) =>
      flood(tenant, 10, {
        path: `/api/v1/workflows/${workflow}/run/`,
        headers: { 'idempotency-key': 'one' },
        body: JSON.stringify({ text: 'x'.repeat(50_000) }),
      }),
  },
  {
    name: 'polls-by-session',
    title: 'Polls of one session, as fast as they are answered.',
    heldBy: 'The limit of sessions.',
    prepare: smallWorkflow,
    async act(tenant, { workflow }) {
      const run = (await tenant.api.run(workflow)).data.id;
      await flood(tenant, 60, { as: 'session', path: `/api/v1/workflows/workflow_result/?id=${run}` });
    },
  },
  {
    name: 'marketplace-searches',
    title: 'Searches of the marketplace, without an account.',
    heldBy: 'Texts of searches are bounded, statements have a time limit.',
    act: (tenant) =>
      flood(tenant, 40, (round) => ({
        as: 'stranger',
        path: `/api/v1/workflows/marketplace/?size=100&search=${'%25_'.repeat(200)}${round}&ordering=-total_cost`,
      })),
  },
  {
    name: 'list-searches',
    title: 'Searches and reports of one session.',
    heldBy: 'The limit of sessions.',
    act: (tenant) => {
      const text = '%25_'.repeat(50);
      const paths = [
        `/api/v1/runs/?size=100&search=${text}&ordering=-cost`,
        `/api/v1/all-workflows/?size=100&search=${text}`,
        '/api/v1/usage/?group_by=workflow',
        `/api/v1/projects/?name__icontains=${text}`,
      ];
      return flood(tenant, 40, (round) => ({ as: 'session', path: paths[round % paths.length]! }));
    },
  },
  {
    name: 'new-projects',
    title: 'Projects, workflows and keys, as many as one session can make.',
    heldBy: 'The limit of sessions; 100 keys a user.',
    act: (tenant) =>
      repeat(tenant, 20, async () => {
        await send(tenant, { as: 'session', path: '/api/v1/projects/', body: '{"name":"more"}' });
        await send(tenant, { as: 'session', path: '/api/v1/api-keys/', body: '{"label":"more"}' });
      }),
  },
  {
    name: 'documentation',
    title: 'The OpenAPI document, the documentation, metrics and health, without an account.',
    heldBy: 'Made once.',
    act: (tenant) => {
      const paths = ['/openapi.json', '/docs/', '/metrics', '/readyz', '/', '/api/v1/workflows/get_nodes/'];
      return flood(tenant, 30, (round) => ({ as: 'stranger', path: paths[round % paths.length]! }));
    },
  },
  {
    name: 'schedules-every-minute',
    title: 'Two hundred schedules that fire every minute, at the moment when they do.',
    heldBy: '20 schedules a workflow; a firing waits for its place in the queue.',
    prepare: {
      name: 'schedules',
      async make(tenant) {
        await scheduleEveryMinute(tenant, 10);
        await pause((2 * MINUTE_MS - BEFORE_FULL_MINUTE_MS - (Date.now() % MINUTE_MS)) % MINUTE_MS);
        return {};
      },
    },
    act: async (tenant) => tenant.count('schedules'),
  },
  {
    name: 'all-together',
    title: 'Seven of these attacks at once, by two tenants.',
    heldBy: 'All of these.',
    tenants: 2,
    async act(tenant, prepared) {
      const all = [...bodyAttacks, ...outsideAttacks, ...drawingAttacks, ...floodAttacks];
      const chosen = all.filter(({ name }) => TOGETHER.includes(name));
      await Promise.all(chosen.map((attack) => attack.act(tenant, prepared)));
    },
  },
];
