import type { Currencies } from '../../config/currencies.js';
import type { Database } from '../../db/core/client.js';

export interface BillingDeps {
  db: Database;
  currencies: Currencies;
}
