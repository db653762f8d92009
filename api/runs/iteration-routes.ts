// Lists the iterations of a loop (docs/use/nodes.md, "For each, and loop").
import { z } from 'zod';
import { listIterations, readIterationNodes } from '../../db/runs/iterations-list-repository.js';
import type { PolledNode } from '../../db/runs/poll-repository.js';
import { createWaitView, readingRole } from '../waits/wait-view.js';
import { orNotFound } from '../http/errors.js';
import { lazyValue } from '../http/json-text.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { iterationPath, nodeId, runParams } from '../http/path-ids.js';
import type { RunDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { indexOfPath } from '../../graph/iteration-path.js';
import { readApartFrom } from './apart-results.js';
import { toNodeMap } from './node-map.js';
import { nodeEntrySchema } from '../envelope/run-envelope.js';

const defineRoute = routesOf<RunDeps>();

/** The memory that is reserved for the entries of one iteration of a large page, which are read while they are sent. */
const PAGE_MEMORY_BYTES = 2 * 1024 * 1024;

const iterationSchema = z.object({
  path: z.string().describe('Such as `LOOP[3]/INNER[0]`; the nodes of the iteration have it, too'),
  index: z.int().describe('From 0'),
  status: z.enum(['in progress', 'succeed', 'failed']),
  reused: z.literal(true).optional().describe('The results are those of an earlier run (resume)'),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  nodes: z.record(z.string(), nodeEntrySchema).describe('As in the poll; empty once the results have expired'),
});

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/history/:run_id/iterations/',
  summary: 'Lists the iterations of a loop that have begun, in their order, with their nodes.',
  description:
    'A loop inside another loop is asked for with the `path` of the iteration around it. A node that is no loop has no iterations.',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  params: runParams,
  query: z.object({
    ...pageQuery(1),
    node: nodeId.describe('The id of the loop'),
    path: iterationPath.optional(),
    status: z.enum(['in progress', 'succeed', 'failed']).optional(),
  }),
  responses: { 200: envelopeOf(iterationSchema) },
  async handler({ deps, caller, access, params, query }) {
    const { db, config } = deps;
    const loop = { runId: params.run_id, path: query.path ?? '', nodeId: query.node };
    const asked = { workflowId: params.id, status: query.status, retentionDays: config.resultRetentionDays };
    const found = orNotFound(await listIterations(db, loop, { ...asked, ...toWindow(query) }));
    const waits = createWaitView(deps, readingRole(caller, access.role));
    const items = found.iterations.map(({ path, status, isReused, startedAt, finishedAt, nodes }) => {
      const place = { runId: loop.runId, path };
      const toMap = (read: PolledNode[]) => toNodeMap(read, null, { readApart: readApartFrom(db, place, read), waits });
      const readLater = () => readIterationNodes(db, place, config.resultRetentionDays);
      const times = { ...(isReused && { reused: true }), started_at: startedAt, finished_at: finishedAt };
      const entries =
        nodes === undefined ? lazyValue(PAGE_MEMORY_BYTES, async () => toMap(await readLater())) : toMap(nodes);
      return { path, index: indexOfPath(path), status, ...times, nodes: entries };
    });
    return answerPage(query, found.total, items);
  },
});

export const iterationRoutes: Route<RunDeps>[] = [list];
