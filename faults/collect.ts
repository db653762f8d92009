// Collects the evidence at the end of a row of the fault matrix (one fault in one mode of execution): from the stage
// and its clients, the systems outside of the service (outside.ts), the database and the API.
import type { Evidence, StoredChild, StoredNode, StoredRun } from './evidence.js';
import type { Struck } from './service.js';
import type { Stage } from './stage.js';

export async function collectEvidence(stage: Stage<Struck>, spentBeforeUsd: string): Promise<Evidence> {
  const { world } = stage;
  const runs = stage.runs.map(({ evidence }) => evidence);
  const stored = await readStored(stage);
  for (const run of runs) {
    run.stored = stored.find(({ runId }) => runId === run.runId);
    run.children = stored.flatMap(({ parent, ...child }) =>
      parent !== undefined && parent.runId === run.runId ? [{ ...child, ...parent.node }] : [],
    );
  }
  return {
    runs,
    hits: stage.hits,
    calls: world.countCalls(),
    project: {
      runs: stored.filter(({ parent }) => parent === undefined).length,
      spentBeforeUsd,
      spentAfterUsd: await readSpent(stage),
    },
    complaints: stage.complaints,
  };
}

/** Returns the project's spending in USD as the API shows it. */
export async function readSpent({ api, projectId }: Stage<Struck>): Promise<string> {
  const { body } = await api.get<{ total_spent: Record<string, string> }>(`/projects/${projectId}/`);
  return body.total_spent['USD'] ?? 'nothing';
}

type Row<T> = T & { runId: string };

interface RunOfProject extends StoredRun {
  runId: string;
  /** Absent if a client has started the run. */
  parent?: { runId: string; node: Pick<StoredChild, 'parentNodeId' | 'parentPath'> };
}

interface RunRow {
  id: string;
  workflow: number;
  status: string;
  error: string | null;
  cost: string;
  parentId: string | null;
  parentPath: string;
  parentNodeId: string;
}

async function readStored(stage: Stage<Struck>): Promise<RunOfProject[]> {
  const { world, projectId, api } = stage;
  const rowsOf = <T>(columns: string, table: string) =>
    world.query<Row<T>>(
      `SELECT run_id AS "runId", path, node_id AS "nodeId", ${columns} FROM ${table}
       WHERE run_id IN (SELECT id FROM runs WHERE project_id = $1)`,
      [projectId],
    );
  const nodes = await rowsOf<StoredNode & { isIteration: boolean }>(
    `status, error_code AS "errorCode", (extract(epoch FROM finished_at) * 1000)::float AS "finishedAt",
     result::text AS result, is_iteration AS "isIteration"`,
    'node_results',
  );
  const transactions = await rowsOf<StoredRun['transactions'][number]>(
    'operation, status, amount_usd::text AS "amountUsd"',
    'billing_transactions',
  );
  const claims = await rowsOf<StoredRun['claims'][number]>(
    '(extract(epoch FROM sent_at) * 1000)::float AS "sentAt"',
    'provider_calls',
  );
  const runs = await world.query<RunRow>(
    `SELECT id, workflow_id AS workflow, status, error_code AS error, cost_usd::text AS cost,
       parent_run_id AS "parentId", parent_path AS "parentPath", parent_node_id AS "parentNodeId"
     FROM runs WHERE project_id = $1`,
    [projectId],
  );
  const stored: RunOfProject[] = [];
  for (const { id, workflow, status, error, cost, parentId, ...node } of runs) {
    const ofRun = <T>(rows: Row<T>[]): T[] => rows.filter(({ runId }) => runId === id);
    const shown = await api.history(workflow, id);
    stored.push({
      runId: id,
      status,
      errorCode: error,
      costUsd: cost,
      shownCostUsd: shown.cost['USD'] ?? 'nothing',
      nodes: ofRun(nodes).filter(({ isIteration }) => !isIteration),
      iterations: ofRun(nodes).filter(({ isIteration }) => isIteration),
      transactions: ofRun(transactions),
      claims: ofRun(claims),
      ...(parentId !== null && { parent: { runId: parentId, node } }),
    });
  }
  return stored;
}
