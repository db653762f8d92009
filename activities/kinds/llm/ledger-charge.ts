import type { Database } from '../../../db/core/client.js';
import { sumCallPrices } from '../../../db/nodes/provider-calls-repository.js';
import type { NodeKey } from '../../../graph/plan.js';
import type { Charge } from '../../node/failures.js';

const ESTIMATED = 'The amount is estimated, at least in part: a call was cut off, or its usage was not reported.';

/** Returns the cost of a node's calls in the ledger. */
export async function ledgerCharge(db: Database, node: NodeKey, priceVersion: string): Promise<Charge> {
  const { usd, isEstimated } = await sumCallPrices(db, node);
  return { amountUsd: usd, priceVersion, reason: isEstimated ? ESTIMATED : '' };
}
