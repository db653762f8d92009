// Sets the flags of runs (docs/use/interface-notes/runs.md, "History, usage, billing"). These routes answer a role
// without permission with 400.
import { z } from 'zod';
import { findFlagCandidate, setRunFlag, type RunFlag } from '../../db/runs/run-flags-repository.js';
import type { Role } from '../../db/core/tables.js';
import { ApiError, orNotFound } from '../http/errors.js';
import { refusePurpose } from './run-of-purpose.js';
import { runParams } from '../http/path-ids.js';
import type { RunDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { runSchema } from './run-view.js';
import { answerRun } from './history-routes.js';

const defineRoute = routesOf<RunDeps>();

interface Toggle {
  action: string;
  flag: RunFlag;
  role: Role;
  summary: string;
}

const toggles: Toggle[] = [
  {
    action: 'toggle-api-run',
    flag: 'is_api_run',
    role: 'editor',
    summary: 'Marks the API run of the workflow; the one before loses the mark.',
  },
  {
    action: 'toggle-marketplace-example',
    flag: 'use_in_marketplace_example',
    role: 'admin',
    summary: 'Shows the run as an example on the marketplace, or no longer.',
  },
  {
    action: 'toggle-marketplace-use',
    flag: 'use_as_marketplace_template',
    role: 'admin',
    summary: 'Marks a succeeded run as the marketplace template; the one before loses the mark.',
  },
];

export const runFlagRoutes: Route<RunDeps>[] = toggles.map(({ action, flag, role, summary }) =>
  defineRoute({
    method: 'POST',
    path: `/api/v1/workflows/:id/history/:run_id/${action}/`,
    summary,
    audit: { action: 'run.flagged', target: 'run', id: 'run_id' },
    access: { to: 'workflow', role, refusal: 400 },
    params: runParams,
    body: z.object({ [flag]: z.boolean() }),
    responses: { 200: runSchema },
    async handler({ deps, params, body }) {
      const run = orNotFound(await findFlagCandidate(deps.db, params.id, params.run_id));
      const value = body[flag] === true;
      if (value && run.purpose !== 'run') throw refusePurpose(run.purpose, 'marked');
      if (value && flag === 'use_as_marketplace_template') {
        if (run.status !== 'Succeeded') {
          throw new ApiError(400, 'run_not_succeeded', 'Only a run that has succeeded can be the template.');
        }
        if (!run.hasData) throw new ApiError(400, 'run_without_data', 'The run carries no workflow data.');
      }
      if (!(await setRunFlag(deps.db, { workflowId: params.id, runId: params.run_id, flag, value }))) {
        throw new ApiError(400, 'results_expired', 'The results of this run have expired: there is nothing to keep.');
      }
      return answerRun(deps, params.id, params.run_id);
    },
  }),
);
