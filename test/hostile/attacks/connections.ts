// Connections that stay open, and streams that nobody reads.
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import type { Attack, Preparation } from '../harness/attack.js';
import { holdAnswers, holdConnections } from '../harness/sockets.js';
import { flood } from '../harness/tenant.js';

const waitingRun: Preparation = {
  name: 'a run that waits',
  async make({ api, projectId }) {
    const data = drawing(linkInRow([trigger(), node('wait', { mode: 'callback' })]));
    const workflow = await api.createWorkflow(projectId, data);
    await api.patch(`/workflows/${workflow}/`, { body: { is_tool: true } });
    return { workflow, run: (await api.run(workflow)).data.id };
  },
};

export const connectionAttacks: Attack[] = [
  {
    name: 'idle-connections',
    title: 'Three thousand connections that say nothing.',
    heldBy: '4,000 connections a process; idle ones are closed.',
    isShort: true,
    act: (tenant) => holdConnections(tenant, 3_000),
  },
  {
    name: 'every-connection',
    title: 'More connections without a request than a process takes in all.',
    heldBy: 'The same.',
    act: (tenant) => holdConnections(tenant, 5_000),
  },
  {
    name: 'unfinished-headers',
    title: 'A thousand requests whose headers do not end.',
    heldBy: '20 s for the headers.',
    act: (tenant) => holdConnections(tenant, 1_000, 'GET /api/v1/projects/ HTTP/1.1\r\nHost: x\r\nX-Slow: '),
  },
  {
    name: 'header-floods',
    title: 'Requests with more headers than are taken.',
    heldBy: '16 KiB of headers.',
    act: (tenant) => flood(tenant, 50, { path: '/api/v1/projects/', headers: { 'x-large': 'x'.repeat(20_000) } }),
  },
  {
    name: 'broken-requests',
    title: 'Hundreds of connections that speak something else than HTTP.',
    heldBy: 'Connections that break the protocol are closed.',
    act: (tenant) => holdConnections(tenant, 500, '\u0016\u0003\u0001 hello\r\n\r\n'),
  },
  {
    name: 'event-streams',
    title: 'A thousand streams of events of one user.',
    heldBy: '2,000 a user, 3,000 a process; one connection listens for all.',
    prepare: waitingRun,
    act: (tenant, { run }) =>
      holdAnswers(tenant, { count: 1_000, path: `/api/v1/workflows/workflow_result/events/?id=${run}` }),
  },
  {
    name: 'long-polls',
    title: 'A thousand polls that wait for the end of a run.',
    heldBy: 'The same.',
    prepare: waitingRun,
    act: (tenant, { run }) =>
      holdAnswers(tenant, {
        count: 1_000,
        path: `/api/v1/workflows/workflow_result/?id=${run}`,
        headers: { prefer: 'wait=55' },
      }),
  },
  {
    name: 'tool-calls',
    title: 'Hundreds of MCP clients that begin sessions and call tools.',
    heldBy: 'The limit of the key.',
    prepare: waitingRun,
    act: (tenant) =>
      flood(tenant, 50, (round) => ({
        as: 'bearer',
        path: '/mcp/',
        headers: { accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: round,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
        }),
      })),
  },
];
