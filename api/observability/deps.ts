import type { Client } from '@temporalio/client';
import type { Database } from '../../db/core/client.js';
import type { Files } from '../../files/files.js';
import type { RefreshFigures } from './database-metrics.js';
import type { Metrics } from './metrics.js';

export interface ObservabilityDeps {
  db: Database;
  temporal: Client;
  files: Files;
  metrics: Pick<Metrics, 'registry'>;
  refreshFigures: RefreshFigures;
  config: {
    /** True if metrics and the details of readiness are served only on a separate port. */
    hasMetricsPort: boolean;
  };
}
