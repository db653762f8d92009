import type { ApiConfig } from './http/api-config.js';
import type { Client } from '@temporalio/client';
import type { Currencies } from '../config/currencies.js';
import type { Logger } from '../telemetry/logger.js';
import type { ModelProviders } from '../config/model-providers.js';
import type { Connections } from '../connections/open-connection.js';
import type { Database } from '../db/core/client.js';
import type { SecretBox } from '../db/core/secret-box.js';
import type { Files } from '../files/files.js';
import type { ChatMeter } from './chat/chat-meter.js';
import type { ChatUpstream } from './chat/chat-upstream.js';
import type { RefreshFigures } from './observability/database-metrics.js';
import type { ByteBudget } from '../memory/byte-budget.js';
import type { McpClient } from '../outgoing/mcp-types.js';
import type { OutgoingClient } from '../outgoing/outgoing-client.js';
import type { Processes } from '../processes/processes.js';
import type { HeavyTurns } from './http/heavy-turns.js';
import type { Metrics } from './observability/metrics.js';
import type { LiveStatus } from './runs/live-status.js';
import type { RunHub } from './live/run-hub.js';
import type { OpenStreams } from './live/open-streams.js';
import type { SharedReads } from './live/shared-reads.js';
import type { RequestCounter } from './access/request-counter.js';
import type { CountedKey, CountedWindow, TokenSubject } from '../db/access/rate-limits-repository.js';
import type { RefusalLog } from './audit/refusal-log.js';
import type { SnapshotStore } from '../acceptance/store-run.js';
import type { StartSlots } from './runs/start-slots.js';
import type { SessionVerifier } from './access/session-tokens.js';
import type { SignIn } from './sessions/sign-in.js';

/** Everything that a request may use; main.ts builds it once. */
export interface AppDeps {
  db: Database;
  /** The database outside the transaction, if `db` is a transaction of the handler. It is read while the answer is sent. */
  answerDb?: Database;
  temporal: Client;
  secretBox: SecretBox;
  mcp: McpClient;
  outgoing: OutgoingClient;
  connections: Connections;
  files: Files;
  currencies: Currencies;
  models: ModelProviders;
  chatUpstream: ChatUpstream;
  chatMeter: ChatMeter;
  processes: Processes;
  /** The memory that all large answers and bodies share. */
  memory: ByteBudget;
  /** In which large drawings are worked at. */
  turns: HeavyTurns;
  startSlots: StartSlots;
  keyCounter: RequestCounter<string, CountedKey>;
  sessionCounter: RequestCounter<TokenSubject, CountedWindow>;
  liveStatus: LiveStatus;
  runHub: RunHub;
  sharedReads: SharedReads;
  openStreams: OpenStreams;
  snapshots: SnapshotStore;
  /** Records refused requests in the audit log. */
  refusals: RefusalLog;
  config: ApiConfig;
  logger: Logger;
  metrics: Metrics;
  /** Called before each scrape. */
  refreshFigures: RefreshFigures;
  verifySession: SessionVerifier;
  signIn: SignIn;
}
