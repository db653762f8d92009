import type { Route } from './route.js';
import { approvalRoutes } from '../approvals/routes.js';
import { billingRoutes } from '../billing/routes.js';
import { allWorkflowsRoutes } from '../workflows/all-workflows-routes.js';
import { chatRoutes } from '../chat/routes.js';
import { createDocumentationRoutes } from './docs-routes.js';
import { executionUpdateRoutes } from '../runs/execution-update-routes.js';
import { healthRoutes } from '../observability/health-routes.js';
import { liveRoutes } from '../live/routes.js';
import { historyRoutes } from '../runs/history-routes.js';
import { marketplaceRoutes } from '../marketplace/routes.js';
import { publicationRoutes } from '../marketplace/publication-routes.js';
import { mcpToolsRoutes } from '../mcp/routes.js';
import { projectRoutes } from '../projects/routes.js';
import { runFlagRoutes } from '../runs/run-flags-routes.js';
import { runRoutes } from '../runs/routes.js';
import { webhookRoutes } from '../webhooks/routes.js';
import { workflowCheckRoutes } from '../workflows/checks-routes.js';
import { workflowPositionRoutes } from '../workflows/positions-routes.js';
import { workflowRoutes } from '../workflows/routes.js';

/** Every route of the service. */
export const routes: Route[] = [
  ...projectRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...workflowPositionRoutes,
  ...workflowCheckRoutes,
  ...mcpToolsRoutes,
  ...runRoutes,
  ...liveRoutes,
  ...historyRoutes,
  ...approvalRoutes,
  ...runFlagRoutes,
  ...billingRoutes,
  ...allWorkflowsRoutes,
  ...publicationRoutes,
  ...marketplaceRoutes,
  ...chatRoutes,
  ...executionUpdateRoutes,
  ...healthRoutes,
  ...createDocumentationRoutes(() => routes),
];
