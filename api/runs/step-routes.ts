// Lists the steps of an agent (docs/use/nodes.md, "Agents").
import { z } from 'zod';
import { findLeftOutTools } from '../../db/agents/agent-tools.js';
import { listAgentSteps } from '../../db/agents/agent-steps-repository.js';
import { hasNode } from '../../db/runs/run-context-repository.js';
import type { NodeKey } from '../../graph/plan.js';
import type { RunDeps } from './deps.js';
import { notFound, orNotFound } from '../http/errors.js';
import { answerPage, envelopeOf, pageQuery, toWindow } from '../http/pagination.js';
import { iterationPath, nodeId, runParams } from '../http/path-ids.js';
import { routesOf, type Route } from '../http/route.js';
import { readRunMasker } from './run-masker.js';
import { stepSchema, toSteps } from './step-view.js';

const defineRoute = routesOf<RunDeps>();

/** Limits the contents of a page, because masking takes time with each character. */
const MAX_PAGE_BYTES = 1024 * 1024;

const list = defineRoute({
  method: 'GET',
  path: '/api/v1/workflows/:id/history/:run_id/nodes/:node_id/steps/',
  summary:
    'Lists what an agent has done: its model calls in their order, with the tool calls that each of them asked for.',
  description:
    'A node that is no agent has no steps. `path` names the enclosing iteration of a node inside a loop. Once the results have expired, models, tokens, costs and times remain.',
  keyScope: 'run',
  access: { to: 'workflow', role: 'viewer' },
  params: runParams.extend({ node_id: nodeId }),
  query: z.object({ ...pageQuery(1), path: iterationPath.optional() }),
  responses: { 200: envelopeOf(stepSchema) },
  async handler({ deps, tenant, access, params, query, memory, signal }) {
    const node: NodeKey = { runId: params.run_id, path: query.path ?? '', nodeId: params.node_id };
    const asked = { workflowId: params.id, retentionDays: deps.config.resultRetentionDays, maxBytes: MAX_PAGE_BYTES };
    const found = orNotFound(await listAgentSteps(deps.db, node, { ...asked, ...toWindow(query) }));
    if (found.nodeStatus === undefined && !(await isDrawn(deps, node))) throw notFound();
    const isShown = found.steps.length > 0 && !found.isExpired;
    const asker = { tenant, projectId: access.projectId, signal, memory };
    const masker = isShown ? await readRunMasker(deps, node.runId, asker) : undefined;
    const isFirst = isShown && found.steps[0]?.turn === 0;
    const leftOut = isFirst ? await findLeftOutTools(deps.db, deps.secretBox, node) : [];
    return answerPage(query, found.total, toSteps(deps, node, found, masker, leftOut));
  },
});

export const stepRoutes: Route<RunDeps>[] = [list];

/**
 * Returns true if `path` is empty and the run can reach the node. Such a node has an empty list instead of a 404 before
 * it starts; a node of an iteration is a 404 until it has started.
 */
async function isDrawn({ db }: RunDeps, { runId, path, nodeId: id }: NodeKey): Promise<boolean> {
  return path === '' && (await hasNode(db, runId, id));
}
