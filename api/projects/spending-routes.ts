// Reads the spending of a project, next to its limit (docs/use/spending.md).
import { z } from 'zod';
import { toAmount } from '../../config/currencies.js';
import { findProject } from '../../db/projects/projects-repository.js';
import { listStops, readReserved } from '../../db/spending/spending-repository.js';
import { orNotFound } from '../http/errors.js';
import type { ProjectDeps } from './deps.js';
import { routesOf, type Route } from '../http/route.js';
import { amountSchema, spendingLimitSchema, toSpendingLimit } from './project-view.js';

const defineRoute = routesOf<ProjectDeps>();

const stopSchema = z.object({
  day: z.iso.date().describe('Of UTC'),
  limited_by: z
    .enum(['project', 'run', 'agent', 'cases'])
    .describe(
      "The project's `spending_limit`; the `max_run_cost` of a workflow, or the `max_cost` of a test (`run`); the `max_cost` of an agent, or of a run of cases",
    ),
  source: z.enum(['run', 'chat']),
  calls: z.int().describe('Calls that were not made'),
  last_run_id: z.uuid().nullable(),
  last_at: z.iso.datetime(),
});

const read = defineRoute({
  method: 'GET',
  path: '/api/v1/projects/:id/spending/',
  summary:
    'Returns the limit of a project, what is spent and reserved of it, and what limits have stopped in the last 30 days.',
  access: { to: 'project', role: 'viewer' },
  responses: {
    200: z.object({
      spending_limit: spendingLimitSchema.nullable(),
      spent_in_period: amountSchema,
      reserved: amountSchema.describe('By calls that are on the wire, or not in the books yet'),
      reserved_calls: z.int(),
      stopped: z.array(stopSchema),
    }),
  },
  async handler({ deps: { db, currencies }, caller, params }) {
    const project = orNotFound(await findProject(db, params.id, caller));
    const [reserved, stops] = await Promise.all([readReserved(db, params.id), listStops(db, params.id)]);
    const stopped = stops.map(({ day, limited, source, calls, lastRunId, lastAt }) => {
      return { day, limited_by: limited, source, calls, last_run_id: lastRunId, last_at: lastAt.toISOString() };
    });
    const body = {
      spending_limit: toSpendingLimit(project),
      spent_in_period: toAmount(project.spent_in_period_usd, currencies),
      reserved: toAmount(reserved.usd, currencies),
      reserved_calls: reserved.calls,
      stopped,
    };
    return { status: 200, body };
  },
});

export const spendingRoutes: Route<ProjectDeps>[] = [read];
