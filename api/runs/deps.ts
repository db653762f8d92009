import type { Client } from '@temporalio/client';
import type { Counter } from 'prom-client';
import type { DrawingCache } from '../../acceptance/drawing-cache.js';
import type { SnapshotStore } from '../../acceptance/store-run.js';
import type { RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { Currencies } from '../../config/currencies.js';
import type { Environment } from '../../config/environment.js';
import type { Database } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import type { Files } from '../../files/files.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { RunHub } from '../live/run-hub.js';
import type { SharedReads } from '../live/shared-reads.js';
import type { LiveStatus } from './live-status.js';
import type { StartSlots } from './start-slots.js';
import type { StartConfig } from './temporal-calls.js';

export interface AcceptDeps {
  db: Database;
  secretBox: SecretBox;
  temporal: Client;
  drawings: DrawingCache;
  snapshots: SnapshotStore;
  startSlots: StartSlots;
  metrics: { runsAccepted: Counter<'outcome'> };
  config: StartConfig;
}

export type RunDeps = AcceptDeps &
  RunEndDeps & {
    currencies: Currencies;
    files: Files;
    heavyWork: HeavyWork;
    liveStatus: LiveStatus;
    runHub: RunHub;
    sharedReads: SharedReads;
    config: Pick<Environment, 'execution' | 'publicUrl' | 'resultRetentionDays' | 'temporalUiUrl'>;
  };
