// Bodies that never come, come slowly, or are as large as possible.
import { incompressibleText } from '../../../harness/target/incompressible-text.js';
import type { Attack, Preparation } from '../harness/attack.js';
import { holdBodies } from '../harness/sockets.js';
import { flood } from '../harness/tenant.js';
import { drawing, trigger } from '../../../harness/drawing/drawing.js';

const MIB = 1024 * 1024;
const SENDERS = 32;
const DRIP_MS = 50;

const hookAndWorkflow: Preparation = {
  name: 'a hook',
  async make({ api, projectId }) {
    const workflow = await api.createWorkflow(projectId, drawing([trigger()]));
    const hook = async (body: object): Promise<string> =>
      new URL((await api.post<{ url: string }>(`/workflows/${workflow}/hooks/`, { body })).body.url).pathname;
    return { workflow, open: await hook({ verify: 'none' }), signed: await hook({ verify: 'hmac-sha256' }) };
  },
};

export const bodyAttacks: Attack[] = [
  {
    name: 'withheld-callbacks',
    title: 'Chunked bodies for unknown callbacks, without an account, that never come.',
    heldBy: 'The token in the path is looked up before the body is read.',
    isShort: true,
    act: (tenant) => holdBodies(tenant, { count: SENDERS, as: 'stranger', path: '/api/v1/callbacks/x/' }),
  },
  {
    name: 'dripped-callbacks',
    title: 'Bodies of 10 MiB for unknown callbacks, a byte at a time.',
    heldBy: 'The same.',
    act: (tenant) =>
      holdBodies(tenant, {
        count: SENDERS,
        as: 'stranger',
        path: '/api/v1/callbacks/x/',
        lengthBytes: 10 * MIB,
        dripEveryMs: DRIP_MS,
      }),
  },
  {
    name: 'withheld-hooks',
    title: 'Bodies for hooks, known and unknown ones, that never come.',
    heldBy: 'The token is looked up first; memory is taken as bytes arrive.',
    prepare: hookAndWorkflow,
    act: (tenant, { open, signed }) =>
      Promise.all(
        [open, signed, '/api/v1/hooks/x/'].map((path) => holdBodies(tenant, { count: SENDERS, as: 'stranger', path })),
      ),
  },
  {
    name: 'dripped-hooks',
    title: 'Bodies of 10 MiB for hooks, a byte at a time.',
    heldBy: 'The same, and a body must be complete in time.',
    prepare: hookAndWorkflow,
    act: (tenant, { open, signed }) =>
      Promise.all(
        [open, signed].map((path) =>
          holdBodies(tenant, {
            count: SENDERS,
            as: 'stranger',
            path,
            lengthBytes: 10 * MIB,
            dripEveryMs: DRIP_MS,
          }),
        ),
      ),
  },
  {
    name: 'withheld-sign-ins',
    title: 'Bodies for everything under sign-in that never come.',
    heldBy: '16 KiB a body.',
    act: (tenant) =>
      Promise.all(
        ['login', 'link', 'refresh', 'logout'].map((route) =>
          holdBodies(tenant, { count: SENDERS, as: 'stranger', path: `/api/v1/auth/${route}/` }),
        ),
      ),
  },
  {
    name: 'withheld-chats',
    title: 'Bodies for the chat proxy, with valid keys of four tenants, that never come.',
    heldBy: 'Memory is taken as bytes arrive.',
    tenants: 4,
    isShort: true,
    act: (tenant) => holdBodies(tenant, { count: 16, as: 'bearer', path: '/v1/chat/completions' }),
  },
  {
    name: 'withheld-imports',
    title: 'Imports with a valid key whose bodies are dripped.',
    heldBy: 'The same.',
    act: (tenant) =>
      holdBodies(tenant, {
        count: SENDERS,
        path: `/api/v1/projects/${tenant.projectId}/import/`,
        lengthBytes: 10 * MIB,
        dripEveryMs: DRIP_MS,
      }),
  },
  {
    name: 'dripped-saves',
    title: 'Saves and run starts of four tenants, a byte at a time.',
    heldBy: 'The same.',
    tenants: 4,
    prepare: { ...hookAndWorkflow, name: 'four hooks' },
    act: (tenant, { workflow }) =>
      Promise.all([
        holdBodies(tenant, {
          count: 16,
          method: 'PATCH',
          path: `/api/v1/workflows/${workflow}/`,
          dripEveryMs: DRIP_MS,
        }),
        holdBodies(tenant, { count: 16, path: `/api/v1/workflows/${workflow}/run/`, dripEveryMs: DRIP_MS }),
      ]),
  },
  {
    name: 'large-saves',
    title: 'Saves of 9 MiB, one after the other, from four tenants.',
    heldBy: 'The budget of bytes is shared by tenants.',
    tenants: 4,
    prepare: { ...hookAndWorkflow, name: 'four hooks' },
    act: (tenant, { workflow }) => {
      const note = incompressibleText(9 * MIB)
        .toString('latin1')
        .replaceAll('"', ' ')
        .replaceAll('\\', ' ');
      return flood(tenant, 4, (round) => ({
        method: 'PATCH',
        path: `/api/v1/workflows/${workflow}/`,
        body: JSON.stringify({ data: { nodes: [], note: `${round}${note}` } }),
      }));
    },
  },
  {
    name: 'large-inputs',
    title: 'Run starts with inputs of 4 MiB, each with an idempotency key of its own.',
    heldBy: 'The same, and large bodies are parsed and accepted one at a time.',
    tenants: 2,
    prepare: { ...hookAndWorkflow, name: 'two hooks' },
    act: (tenant, { workflow }) => {
      const input = JSON.stringify({ text: 'x'.repeat(4 * MIB) });
      return flood(tenant, 4, (round) => ({
        path: `/api/v1/workflows/${workflow}/run/`,
        headers: { 'idempotency-key': `key-${round}-${Date.now()}` },
        body: input,
      }));
    },
  },
  {
    name: 'wide-bodies',
    title: 'Bodies of as many values as are taken, and of a few more.',
    heldBy: '500,000 values a body.',
    tenants: 2,
    prepare: { ...hookAndWorkflow, name: 'two hooks' },
    act: (tenant, { workflow }) => {
      const wide = (count: number): string => `{"data":{"nodes":[${'{},'.repeat(count)}{}]}}`;
      // Each object counts as two values: an element and a container.
      const bodies = [wide(249_000), wide(251_000)];
      return flood(tenant, 4, (round) => ({
        method: 'PATCH',
        path: `/api/v1/workflows/${workflow}/`,
        body: bodies[round % bodies.length]!,
      }));
    },
  },
  {
    name: 'too-large-bodies',
    title: 'Bodies above every limit, sent in full, without an account and with one.',
    heldBy: '10 MiB a body, 20 MiB at the chat proxy.',
    act: (tenant) => {
      const body = ' '.repeat(21 * MIB);
      const paths = ['/api/v1/callbacks/x/', '/api/v1/hooks/x/', '/api/v1/auth/login/', '/api/v1/projects/'];
      return flood(tenant, 8, (round) => ({
        as: round % 2 === 0 ? 'stranger' : 'key',
        path: paths[round % paths.length]!,
        body,
      }));
    },
  },
];
