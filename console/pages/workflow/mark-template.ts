import { api, unwrap } from '../../app/api.js';

interface RunMark {
  id: string;
  use_as_marketplace_template: boolean;
}

/** The chosen run alone is the template: of several marked ones the service takes the newest. */
export async function markTemplate(workflowId: number, runId: string, runs: readonly RunMark[]): Promise<void> {
  for (const run of runs) {
    const isChosen = run.id === runId;
    if (run.use_as_marketplace_template === isChosen) continue;
    await unwrap(
      api.POST('/api/v1/workflows/{id}/history/{run_id}/toggle-marketplace-use/', {
        params: { path: { id: workflowId, run_id: run.id } },
        body: { use_as_marketplace_template: isChosen },
      }),
    );
  }
}
