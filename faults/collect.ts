// After the last run has ended: what the clients, the outside, the database and the API have to say.
import type { Evidence, StoredRun } from './evidence.js';
import type { Stage } from './stage.js';

export async function collectEvidence(stage: Stage, spentBeforeUsd: string): Promise<Evidence> {
  const { world, projectId } = stage;
  const runs = stage.runs.map(({ evidence }) => evidence);
  const stored = await readStored(stage);
  for (const run of runs) if (run.runId !== undefined) run.stored = stored.get(run.runId);
  const [count] = await world.query<{ runs: number }>(
    'SELECT count(*)::integer AS runs FROM runs WHERE project_id = $1',
    [projectId],
  );
  return {
    runs,
    hits: stage.hits,
    calls: world.countCalls(),
    project: { runs: count!.runs, spentBeforeUsd, spentAfterUsd: await readSpent(stage) },
    complaints: stage.complaints,
  };
}

/** As the API shows it. */
export async function readSpent({ api, projectId }: Stage): Promise<string> {
  const { body } = await api.get<{ total_spent: Record<string, string> }>(`/projects/${projectId}/`);
  return body.total_spent['USD'] ?? 'nothing';
}

type Row<T> = T & { runId: string };

async function readStored(stage: Stage): Promise<Map<string, StoredRun>> {
  const { world, projectId, api } = stage;
  const rowsOf = <T>(columns: string, table: string) =>
    world.query<Row<T>>(
      `SELECT run_id AS "runId", node_id AS "nodeId", ${columns} FROM ${table}
       WHERE run_id IN (SELECT id FROM runs WHERE project_id = $1)`,
      [projectId],
    );
  const nodes = await rowsOf<StoredRun['nodes'][number]>(
    `status, error_code AS "errorCode", (extract(epoch FROM finished_at) * 1000)::float AS "finishedAt"`,
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
  const runs = await world.query<{ id: string; workflow: number; status: string; error: string | null; cost: string }>(
    `SELECT id, workflow_id AS workflow, status, error_code AS error, cost_usd::text AS cost FROM runs
     WHERE project_id = $1`,
    [projectId],
  );
  const stored = new Map<string, StoredRun>();
  for (const { id, workflow, status, error, cost } of runs) {
    const ofRun = <T>(rows: Row<T>[]): T[] => rows.filter(({ runId }) => runId === id);
    const shown = await api.history(workflow, id);
    stored.set(id, {
      status,
      errorCode: error,
      costUsd: cost,
      shownCostUsd: shown.cost['USD'] ?? 'nothing',
      nodes: ofRun(nodes),
      transactions: ofRun(transactions),
      claims: ofRun(claims),
    });
  }
  return stored;
}
