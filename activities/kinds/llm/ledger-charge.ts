import { findModel, type ModelProviders } from '../../../config/model-providers.js';
import type { Database } from '../../../db/core/client.js';
import { sumCallPrices } from '../../../db/nodes/provider-calls-repository.js';
import type { Charge } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

const ESTIMATED = 'The amount is estimated, at least in part: a call was cut off, or its usage was not reported.';

/**
 * Returns the cost of a node's calls in the ledger. The ledger also names the model that was called, because the model
 * name of the drawing may contain variables.
 */
export async function ledgerCharge(
  { db, providers }: { db: Database; providers: ModelProviders },
  task: NodeTask,
): Promise<Charge> {
  const { usd, isEstimated, model } = await sumCallPrices(db, task);
  const { settings } = task.node.data as { settings?: { model_name?: string } };
  const { priceVersion = '' } = findModel(providers, model ?? settings?.model_name ?? '') ?? {};
  return { amountUsd: usd, priceVersion, reason: isEstimated ? ESTIMATED : '' };
}
