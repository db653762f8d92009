// Attacks by the answers of servers that belong to the authors of nodes and tools.
import { agent, drawing, fanOut, http, mcp, trigger } from '../../../harness/drawing/drawing.js';
import type { Attack } from '../harness/attack.js';
import { flood, keepRunning, type Tenant } from '../harness/tenant.js';

const MIB = 1024 * 1024;

const asks = (tenant: Tenant, sides: number, server: string): Promise<void> =>
  flood(tenant, sides, {
    as: 'session',
    path: '/api/v1/workflows/mcp-tools/',
    body: JSON.stringify({ endpoint_url: `${tenant.outside}/${server}`, transport: 'streamable_http', timeout: 30 }),
  });

export const outsideAttacks: Attack[] = [
  {
    name: 'packed-mcp-lists',
    title: 'A tool server whose list is 10 KB and becomes 10 MiB of empty objects, asked by `mcp-tools`.',
    heldBy: 'Messages are counted while they are decoded and parsed.',
    isShort: true,
    act: (tenant) => asks(tenant, 6, 'packed-mcp/9'),
  },
  {
    name: 'packed-mcp-in-nodes',
    title: 'The same server, called by MCP nodes.',
    heldBy: 'The same.',
    act: (tenant) =>
      keepRunning(
        tenant,
        3,
        fanOut(20, () => mcp(`${tenant.outside}/packed-mcp/9`, 't')),
      ),
  },
  {
    name: 'packed-mcp-in-agents',
    title: 'The same server as the tools of agents.',
    heldBy: 'The same.',
    act: (tenant) =>
      keepRunning(
        tenant,
        3,
        fanOut(20, () =>
          agent('Go', { model_name: 'hostile-agent' }, [{ endpoint_url: `${tenant.outside}/packed-mcp/9` }]),
        ),
      ),
  },
  {
    name: 'endless-mcp',
    title: 'Tool servers whose lists have no end: pages, silence, one line without an end.',
    heldBy: 'Bounded pages, messages and time.',
    tenants: 2,
    act: (tenant) => Promise.all(['paged-mcp', 'silent-mcp', 'endless-mcp'].map((server) => asks(tenant, 10, server))),
  },
  {
    name: 'gzip-towers',
    title: 'HTTP nodes whose answers are 64 MiB of zeros, packed three times.',
    heldBy: 'Each encoding is decoded within the time of the node and 10 MiB.',
    act: (tenant) =>
      keepRunning(
        tenant,
        4,
        fanOut(20, () => http(`${tenant.outside}/tower/3`)),
      ),
  },
  {
    name: 'large-json',
    title: 'HTTP nodes whose answers are 9 MiB of empty objects.',
    heldBy: 'A response has 10 MiB; the budget of payload bytes.',
    act: (tenant) =>
      keepRunning(
        tenant,
        4,
        fanOut(20, () => http(`${tenant.outside}/objects/${9 * MIB}`)),
      ),
  },
  {
    name: 'targets-that-hang',
    title: 'Six hundred HTTP nodes of four tenants whose targets answer never or a byte a second.',
    heldBy: 'A project has four of five slots of a worker.',
    tenants: 4,
    isShort: true,
    act: (tenant) =>
      keepRunning(
        tenant,
        5,
        fanOut(30, (index) =>
          http(`${tenant.outside}/${index % 2 === 0 ? 'hang' : 'drip'}`, { settings: { timeout: 300 } }),
        ),
      ),
  },
  {
    name: 'large-results',
    title: 'Results of 9 MiB, one run after the other, from two tenants.',
    heldBy: 'The budget of payload bytes.',
    tenants: 2,
    act: (tenant) =>
      keepRunning(
        tenant,
        2,
        fanOut(10, () => http(`${tenant.outside}/bytes/${9 * MIB}`)),
      ),
  },
  {
    name: 'webhooks-that-hang',
    title: 'A receiver of webhooks that never answers, for hundreds of runs.',
    heldBy: 'Deliveries have a time limit and slots of their own.',
    async act(tenant) {
      const body = { webhook_url: `${tenant.outside}/hang`, is_webhook_enabled: true };
      await tenant.api.patch(`/projects/${tenant.projectId}/`, { body });
      await keepRunning(tenant, 8, drawing([trigger()]));
    },
  },
  {
    name: 'models-that-hang',
    title: 'Two hundred calls of the chat proxy for a model that does not answer.',
    heldBy: '60 s a call; waiting holds no slot.',
    act: (tenant) =>
      flood(tenant, 200, {
        as: 'bearer',
        path: '/v1/chat/completions',
        body: JSON.stringify({ model: 'hostile-slow', messages: [{ role: 'user', content: 'x'.repeat(10_000) }] }),
      }),
  },
  {
    name: 'agents-that-loop',
    title: 'Agents whose model calls a tool for ever.',
    heldBy: 'Turns are activities in slots of the project.',
    tenants: 2,
    act: (tenant) =>
      keepRunning(
        tenant,
        3,
        fanOut(10, () =>
          agent('Go', { model_name: 'hostile-agent', max_iterations: 1_000 }, [
            { endpoint_url: `${tenant.outside}/paged-mcp`, require_approval: 'never' },
            { endpoint_url: `${tenant.outside}/small-mcp`, server_label: 'small', require_approval: 'never' },
          ]),
        ),
      ),
  },
];
