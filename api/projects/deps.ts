import type { Currencies } from '../../config/currencies.js';
import type { Environment } from '../../config/environment.js';
import type { ModelProviders } from '../../config/model-providers.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';

export interface ProjectDeps {
  db: Database;
  secretBox: SecretBox;
  currencies: Currencies;
  models: ModelProviders;
  config: Pick<Environment, 'addressRules'>;
}
