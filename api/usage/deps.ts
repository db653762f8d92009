import type { Currencies } from '../../config/currencies.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Database } from '../../db/core/client.js';

export interface UsageDeps {
  db: Database;
  currencies: Currencies;
  models: ModelProviders;
}
