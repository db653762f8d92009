import type { Route } from '../route.js';
import { executionUpdateRoutes } from './execution-update.js';
import { healthRoutes } from './health.js';
import { historyRoutes } from './history.js';
import { projectRoutes } from './projects.js';
import { runRoutes } from './runs.js';
import { webhookRoutes } from './webhooks.js';
import { workflowCheckRoutes } from './workflow-checks.js';
import { workflowRoutes } from './workflows.js';

/** Every route of the service. */
export const routes: Route[] = [
  ...projectRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...workflowCheckRoutes,
  ...runRoutes,
  ...historyRoutes,
  ...executionUpdateRoutes,
  ...healthRoutes,
];
