// Loads the data of a run for all pages that show one.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../service/api.js';
import { useProjectRole } from '../../service/projects.js';
import { readLinks, type RunLinks } from '../../drawing/run-links.js';
import { applyState, nodeKey, startLiveRun, type NodeEntry } from '../../live/live-run.js';
import { statusesOf } from '../../live/node-status.js';
import { readShownRun, writeShownRun } from '../../live/run-cache.js';
import { toPollStatus } from '../../live/run-word.js';
import { ITERATIONS_OF_A_PAGE, type LoopAddress } from './more-iterations.js';

export type RunDetail = paths['/api/v1/runs/{run_id}/']['get']['responses'][200]['content']['application/json'];
export type NodeDetail =
  paths['/api/v1/workflows/{id}/history/{run_id}/nodes/{node_id}/']['get']['responses'][200]['content']['application/json'];
export type Transaction = NodeDetail['transactions'][number];
export type Attempt = NodeDetail['attempts'][number];
export type ApprovalRequest =
  paths['/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/']['get']['responses'][200]['content']['application/json'][number];

/**
 * Loads the whole run. Writes its nodes to the live cache as well (console/live/run-cache.ts), from which the parts
 * of a page read.
 */
export function useRun(runId: string): UseQueryResult<RunDetail> {
  return useQuery({ queryKey: ['run', runId], queryFn: ({ signal }) => loadRun(runId, signal) });
}

async function loadRun(runId: string, signal: AbortSignal): Promise<RunDetail> {
  const run = await unwrap(api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: runId } }, signal }));
  const status = toPollStatus(run);
  const nodes = run.result as Record<string, NodeEntry>;
  const known = readShownRun(runId)?.live;
  const links = readLinks(run.data);
  const live =
    known === undefined
      ? startLiveRun(status, nodes, links.order)
      : applyState(known, { status, version: undefined, nodes });
  writeShownRun(runId, { live, statuses: statusesOf(links, live) });
  addNodes(runId, links, await loadIterations(run, loopsOf(Object.values(nodes)), { signal }));
  return run;
}

/** Loads a page of the iterations of a loop, with the loops inside them, into the live cache. The first `page` is 1. */
export async function loadMoreIterations(run: RunDetail, loop: LoopAddress, page: number): Promise<void> {
  addNodes(run.id, readLinks(run.data), await loadIterations(run, [loop], { page }));
}

function addNodes(runId: string, links: RunLinks, inside: readonly NodeEntry[]): void {
  const latest = readShownRun(runId)?.live;
  if (latest === undefined || inside.length === 0) return;
  const nodes = Object.fromEntries(inside.map((entry) => [nodeKey(entry.id, entry.path), entry]));
  const whole = applyState(latest, { status: latest.status, version: undefined, nodes });
  writeShownRun(runId, { live: whole, statuses: statusesOf(links, whole) });
}

/** Loads all approval requests of a run, including decided ones. */
export function useApprovals(runId: string): UseQueryResult<ApprovalRequest[]> {
  return useQuery({
    queryKey: ['run-approvals', runId],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/workflows/workflow_run/{workflow_run_id}/agent-approval/', {
          params: { path: { workflow_run_id: runId } },
          signal,
        }),
      ),
  });
}

const COST_EVERY_MS = 4_000;

/** Returns the current cost of an open run. Reads the list of runs, because the list omits the results. */
export function useRunningCost(run: RunDetail, isOpen: boolean): Readonly<Record<string, string>> {
  const createdAtMs = Date.parse(run.created_at);
  const query = useQuery({
    queryKey: ['run-cost', run.id],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/runs/', {
          params: {
            query: {
              workflow: run.workflow.id,
              // By default the list leaves out tests and answers of the assistant.
              purpose: run.purpose,
              started_after: run.created_at,
              started_before: new Date(createdAtMs + 1).toISOString(),
            },
          },
          signal,
        }),
      ),
    enabled: isOpen,
    refetchInterval: COST_EVERY_MS,
  });
  const listed = query.data?.items.find(({ id }) => id === run.id);
  return isOpen ? (listed?.cost ?? run.cost) : run.cost;
}

/**
 * True if the person may start runs. Viewers get no buttons. If the role cannot be loaded, the buttons appear and
 * the service decides.
 */
export function useMayRun(projectId: number): boolean {
  const { role, isKnown } = useProjectRole(projectId);
  return isKnown && role !== 'viewer';
}

// Nodes inside loops are loaded separately, because neither the run nor its polls contain them.

/** The limit on loops whose iterations are loaded at once. A person loads further iterations of a loop on request. */
const MAX_REQUESTS = 20;

/**
 * Loads the node entries, with their paths, in one page of iterations of each loop in `first` and of each loop inside
 * these, up to `MAX_REQUESTS` loops. `page` is that of the first loop; of the others, the first page is loaded.
 */
async function loadIterations(
  { id, workflow }: { id: string; workflow: { id: number } },
  first: readonly LoopAddress[],
  { page = 1, signal }: { page?: number; signal?: AbortSignal },
): Promise<NodeEntry[]> {
  const found: NodeEntry[] = [];
  const loops = [...first];
  // This `for` appends to `loops` while it iterates over them, because iterations may contain loops.
  for (const [index, { node, path }] of loops.entries()) {
    if (index === MAX_REQUESTS) break;
    const { items } = await unwrap(
      api.GET('/api/v1/workflows/{id}/history/{run_id}/iterations/', {
        params: {
          path: { id: workflow.id, run_id: id },
          query: { node, page: index === 0 ? page : 1, size: ITERATIONS_OF_A_PAGE, ...(path !== '' && { path }) },
        },
        ...(signal && { signal }),
      }),
    );
    for (const iteration of items) {
      const entries = Object.values(iteration.nodes).map((entry) => ({ ...entry, path: iteration.path }));
      found.push(...entries);
      loops.push(...loopsOf(entries));
    }
  }
  return found;
}

function loopsOf(nodes: readonly NodeEntry[]): LoopAddress[] {
  return nodes.flatMap(({ id, path = '', iterations }) => (iterations === undefined ? [] : [{ node: id, path }]));
}
