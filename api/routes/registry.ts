import type { Route } from '../route.js';
import { approvalRoutes } from './approvals.js';
import { billingRoutes } from './billing.js';
import { allWorkflowsRoutes } from './all-workflows.js';
import { chatRoutes } from './chat-completions.js';
import { createDocumentationRoutes } from './documentation.js';
import { executionUpdateRoutes } from './execution-update.js';
import { healthRoutes } from './health.js';
import { historyRoutes } from './history.js';
import { marketplaceRoutes } from './marketplace.js';
import { publicationRoutes } from './publication.js';
import { mcpToolsRoutes } from './mcp-tools.js';
import { projectRoutes } from './projects.js';
import { runFlagRoutes } from './run-flags.js';
import { runRoutes } from './runs.js';
import { webhookRoutes } from './webhooks.js';
import { workflowCheckRoutes } from './workflow-checks.js';
import { workflowPositionRoutes } from './workflow-positions.js';
import { workflowRoutes } from './workflows.js';

/** Every route of the service. */
export const routes: Route[] = [
  ...projectRoutes,
  ...webhookRoutes,
  ...workflowRoutes,
  ...workflowPositionRoutes,
  ...workflowCheckRoutes,
  ...mcpToolsRoutes,
  ...runRoutes,
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
