import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { toAmount, type Currencies } from '../../config/currencies.js';
import type { MarketplaceWorkflow } from '../../db/marketplace/marketplace-repository.js';
import { amountSchema } from '../projects/project-view.js';

export const marketplaceWorkflowSchema = z.object({
  id: z.int(),
  slug: z.string(),
  market_title: z.string(),
  short_description: z.string(),
  readme_guide: z.string(),
  available_languages: z.array(z.string()),
  run_fee: z.string().describe('USD, for a succeeded run of a copy beyond the free ones.'),
  free_runs_per_user: z.int(),
  marketplace_price_avg: amountSchema,
  copied_workflow_id: z.int().describe("The caller's copy, or -1."),
  total_users_count: z.int(),
  total_runs_count: z.int(),
  last_run_at: z.iso.datetime().nullable(),
});

export function toMarketplaceWorkflow(
  workflow: MarketplaceWorkflow,
  currencies: Currencies,
): z.infer<typeof marketplaceWorkflowSchema> {
  return {
    id: workflow.id,
    slug: workflow.slug,
    market_title: workflow.market_title,
    short_description: workflow.short_description,
    readme_guide: workflow.readme_guide,
    available_languages: workflow.available_languages,
    run_fee: new Decimal(workflow.run_fee_usd).toFixed(),
    free_runs_per_user: workflow.free_runs_per_user,
    marketplace_price_avg: toAmount(workflow.average_cost_usd, currencies),
    copied_workflow_id: workflow.copy_id ?? -1,
    total_users_count: workflow.user_count,
    total_runs_count: workflow.run_count,
    last_run_at: workflow.last_run_at?.toISOString() ?? null,
  };
}
