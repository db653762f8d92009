// The API process: `npm run api`. Any number of these processes may run, on any machines.
import { loadCurrencies } from '../config/currencies.js';
import { ConfigError, parseEnvironment, required, type Environment } from '../config/environment.js';
import { portOf } from '../telemetry/health-server.js';
import { createLogger, type Logger } from '../telemetry/logger.js';
import { loadModelProviders } from '../config/model-providers.js';
import { createDataConverter } from '../config/payload-encryption.js';
import { createPoolFigures } from './pools/pool-figures.js';
import { registerPoolMetrics } from '../telemetry/pool-metrics.js';
import { tellState } from '../telemetry/tell-state.js';
import { onStopSignal } from '../config/stop-signals.js';
import { loadTemporalConnection } from '../config/temporal-connection.js';
import { startTracing } from '../telemetry/tracing.js';
import { Client, Connection } from '@temporalio/client';
import { createConnections } from '../connections/open-connection.js';
import { createDatabase, type Database } from '../db/core/client.js';
import { DatabasePulse } from '../db/core/pulse.js';
import { startListener, type Listener } from '../db/core/listener.js';
import { LOCKED_OUT_CHANNEL } from '../db/cascades/update-user.js';
import { DELTAS_CHANNEL } from '../db/runs/run-deltas-repository.js';
import type { TakeShare } from '../db/core/tenants.js';
import { CHANGES_CHANNEL, QUEUE_MESSAGE } from '../db/watches/notify-watchers.js';
import { createSecretBox } from '../db/core/secret-box.js';
import { openFiles } from '../files/open-files.js';
import { ByteBudget } from '../memory/byte-budget.js';
import { createMcpClient } from '../outgoing/mcp-client.js';
import { createOutgoingClient } from '../outgoing/outgoing-client.js';
import { createProcesses, DOCUMENT_LIMITS, OPENAPI_LIMITS } from '../processes/processes.js';
import { createApp } from './app.js';
import { startRunningCases } from './test-runs/run-cases.js';
import { createChatMeter } from './chat/chat-meter.js';
import { createChatUpstream } from './chat/chat-upstream.js';
import { createDatabaseMetrics } from './observability/database-metrics.js';
import { startMetricsServer } from './observability/health-routes.js';
import { createMetrics, type Metrics } from './observability/metrics.js';
import { createLiveStatus } from './runs/live-status.js';
import { startScheduleSync } from './schedules/sync-schedules.js';
import type { BackgroundLoop } from './loops/background-loop.js';
import { startReconciler } from './background/reconciler.js';
import { startRetention } from './background/retention.js';
import { startSweepingFiles } from './background/sweep-files.js';
import { startFindingWorkerWaits } from './background/worker-waits.js';
import { startCountingBytes, startFoldingFigures } from './background/figures.js';
import { HeavyWork } from './http/heavy-work.js';
import { closeServer, listen } from './http/server.js';
import { createSessionVerifier } from './access/session-tokens.js';
import { createSignIn } from './sessions/sign-in.js';
import { OpenStreams } from './live/open-streams.js';
import { RunHub } from './live/run-hub.js';
import type { Readers } from './live/watched-runs.js';
import { createSharedReads } from './live/shared-reads.js';
import { createKeyCounter, createSessionCounter } from './access/request-counter.js';
import { startChainingAudit } from './audit/chain-audit.js';
import { createRefusalLog } from './audit/refusal-log.js';
import { createDrawingCache } from '../acceptance/drawing-cache.js';
import { createSnapshotStore } from '../acceptance/store-run.js';
import { createStartSlots } from './runs/start-slots.js';
import { startWebhookDelivery } from './webhooks/webhook-delivery.js';

const POOL_MAX = 20;
/** A statement waits this long for its tenant's share, and then as long for a free connection. */
const CONNECTION_PATIENCE_MS = 5_000;
/** A start takes Temporal about 20 ms of processor time. With this many at once, each one ends within its deadline. */
const STARTS_AT_ONCE = 20;
/** Notifications of queued runs that arrive within this time trigger a single round of the reconciler. */
const GATHER_TURNS_MS = 20;
/** The memory of the drawing cache, which is subtracted from the memory of requests. */
const KEPT_DRAWINGS_BYTES = 16 * 1024 * 1024;
/** docs/operate/tuning.md explains the effect of these limits. */
const MEMORY = {
  totalBytes: 192 * 1024 * 1024 - KEPT_DRAWINGS_BYTES,
  uncountedBytes: 256 * 1024,
  uncountedLeases: 64,
  patienceMs: 20_000,
};

/**
 * A shutdown ends the process after this time at the latest, within 15 s of SIGTERM. As after a crash, other processes
 * continue the work that then still waits for the database or Temporal: they find it by its expired lease or its stored
 * row. A call of the chat proxy that could not be recorded costs what was reserved for it.
 */
const SHUTDOWN_MS = 14_000;

async function main(): Promise<void> {
  const environment = parseEnvironment(process.env);
  const logger = createLogger('api', environment.logLevel, environment);
  const tracing = await startTracing('api', environment, logger);
  const { deps, close } = createDeps(environment, process.env, logger);
  const answer = createApp(deps).callback();
  const server = await listen((request, response) => void answer(request, response), environment);
  const { host, metricsPort } = environment;
  const health = metricsPort === undefined ? undefined : await startMetricsServer(deps, { host, metricsPort });
  const reconciler = startReconciler(deps);
  const retention = startRetention(deps);
  const figures = startFoldingFigures(deps);
  const bytes = startCountingBytes(deps);
  const sweep = startSweepingFiles(deps);
  const workerWaits = startFindingWorkerWaits(deps);
  const cases = startRunningCases(deps);
  const webhooks = startWebhookDelivery(deps);
  const schedules = startScheduleSync(deps);
  const audit = startChainingAudit(deps);
  const chatCalls = deps.chatMeter.start();
  const changes = listenToChanges(deps, required(environment, 'databaseUrl', 'DATABASE_URL'), reconciler);
  logger.info({ port: server.port, metrics_port: health && portOf(health) }, 'listening');
  process.send?.({ type: 'ready', port: server.port, metricsPort: health && portOf(health) });

  const shutDown = async (signal: string): Promise<void> => {
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.warn('stopped before all work had ended; other processes continue it');
      process.exit(0);
    }, SHUTDOWN_MS);
    // The hub answers waiting callers at once, so that the server can close.
    const loops = [
      deps.runHub,
      reconciler,
      retention,
      figures,
      bytes,
      sweep,
      workerWaits,
      cases,
      webhooks,
      schedules,
      audit,
      chatCalls,
      changes,
    ];
    await Promise.all([closeServer(server), ...loops.map((loop) => loop.stop())]);
    await Promise.all([deps.startSlots.idle(), deps.chatMeter.idle()]);
    health?.close();
    await close();
    await tracing.shutdown();
    logger.info('stopped');
    process.exit(0);
  };
  onStopSignal((signal) => {
    shutDown(signal).catch((error: unknown) => fail(logger, error));
  });
  process.on('uncaughtException', (error) => fail(logger, error));
}

/** Merges calls within `GATHER_TURNS_MS` into one. */
function gather(work: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, GATHER_TURNS_MS);
  };
}

function createRunHub(db: Database, memory: ByteBudget, logger: Logger, { runReaders }: Metrics): RunHub {
  const onReaders = ({ waiting, following }: Readers): void => {
    runReaders.set({ kind: 'poll' }, waiting);
    runReaders.set({ kind: 'stream' }, following);
  };
  return new RunHub({ db, memory, logger, onReaders });
}

function listenToChanges(
  { runHub, openStreams, metrics, logger }: ReturnType<typeof createDeps>['deps'],
  url: string,
  reconciler: BackgroundLoop,
): Listener {
  const look = gather(() => reconciler.soon());
  const setListening = (isListening: boolean): void => {
    metrics.runChangesListening.set(Number(isListening));
    runHub.listening(isListening);
  };
  return startListener({
    url,
    channels: [CHANGES_CHANNEL, DELTAS_CHANNEL, LOCKED_OUT_CHANNEL],
    applicationName: 'api-listener',
    onMessage(channel, payload) {
      if (channel === LOCKED_OUT_CHANNEL) openStreams.endThoseOf(Number(payload));
      else if (channel === DELTAS_CHANNEL) runHub.wrote(payload);
      else if (payload === QUEUE_MESSAGE) look();
      else runHub.changed(payload);
    },
    onConnected: () => setListening(true),
    onLost(error) {
      logger.warn({ err: error }, 'no notifications of PostgreSQL; changes of runs are polled');
      setListening(false);
    },
  });
}

/** Shares database connections among tenants by the same rules as memory. */
function shareConnections(): TakeShare {
  const budget = new ByteBudget({ totalBytes: POOL_MAX, uncountedBytes: 0, patienceMs: CONNECTION_PATIENCE_MS });
  return async (tenant) => {
    const lease = budget.lease(tenant);
    await lease.resize(1);
    return () => lease.end();
  };
}

/** Builds what the subjects, the steps of a request and the loops depend on. Each of these declares what it uses. */
function createDeps(environment: Environment, env: NodeJS.ProcessEnv, logger: Logger) {
  const metrics = createMetrics();
  const url = required(environment, 'databaseUrl', 'DATABASE_URL');
  const pulse = new DatabasePulse({ url, applicationName: 'api-pulse', onChange: tellState(logger) });
  const db = createDatabase({
    url,
    pulse,
    poolMax: POOL_MAX,
    takeShare: shareConnections(),
    applicationName: 'api',
    onPool: (pool) => registerPoolMetrics(metrics.registry, pool),
    onError: (error) => logger.warn({ err: error }, 'a database connection broke'),
  });
  const { connectionOptions, namespace } = loadTemporalConnection(env);
  // The connection is lazy: without Temporal the API still starts, answers polls and accepts runs.
  const connection = Connection.lazy(connectionOptions);
  const { resultRetentionDays } = environment;
  const dataConverter = createDataConverter(environment.temporalPayloadKeys);
  // A query of a closed workflow is refused: the end of its run is in Postgres, so no worker needs to replay it.
  const workflow = { queryRejectCondition: 'NOT_OPEN' } as const;
  const temporal = new Client({ connection, namespace, dataConverter, workflow });
  const secretsKeys = required(environment, 'secretsKeys', 'SECRETS_KEY');
  const secretBox = createSecretBox(secretsKeys);
  const outgoing = createOutgoingClient(environment.addressRules);
  const memory = new ByteBudget(MEMORY);
  const readPools = createPoolFigures({ db, temporal, logger, taskQueue: environment.temporalTaskQueue });
  const deps = {
    db,
    databaseHealth: pulse,
    temporal,
    secretBox,
    outgoing,
    connections: createConnections({ db, secretBox, outgoing }),
    files: openFiles(db, secretsKeys, environment),
    mcp: createMcpClient(environment.addressRules),
    currencies: loadCurrencies(environment),
    models: loadModelProviders(environment, env),
    chatUpstream: createChatUpstream({ timeoutMs: environment.chatTimeoutSeconds * 1000 }),
    chatMeter: createChatMeter(db, logger),
    processes: createProcesses(),
    documentProcesses: createProcesses(undefined, DOCUMENT_LIMITS),
    openapiProcesses: createProcesses(undefined, OPENAPI_LIMITS),
    memory,
    heavyWork: new HeavyWork(),
    startSlots: createStartSlots(STARTS_AT_ONCE),
    keyCounter: createKeyCounter(db),
    sessionCounter: createSessionCounter(db),
    liveStatus: createLiveStatus({ temporal, metrics }),
    runHub: createRunHub(db, memory, logger, metrics),
    sharedReads: createSharedReads(db, resultRetentionDays),
    openStreams: new OpenStreams(),
    drawings: createDrawingCache(db, KEPT_DRAWINGS_BYTES),
    snapshots: createSnapshotStore(db),
    refusals: createRefusalLog(db, logger),
    config: {
      taskQueue: environment.temporalTaskQueue,
      internalTokens: (environment.internalServiceToken ?? '')
        .split(',')
        .map((token) => token.trim())
        .filter(Boolean),
      defaultRateLimit: environment.defaultRateLimit,
      sessionRateLimit: environment.sessionRateLimit,
      resultRetentionDays,
      runTimeoutDays: environment.runTimeoutDays,
      maxProjectBytes: environment.maxProjectBytes,
      publicUrl: environment.publicUrl,
      execution: environment.execution,
      corsOrigins: environment.corsOrigins,
      temporalUiUrl: environment.temporalUiUrl?.replace(/\/$/, ''),
      webhookRetrySeconds: environment.webhookRetrySeconds,
      addressRules: environment.addressRules,
      hasMetricsPort: environment.metricsPort !== undefined,
    },
    logger,
    metrics,
    readPools,
    refreshFigures: createDatabaseMetrics(metrics.registry, { db, logger, resultRetentionDays, readPools }),
    verifySession: createSessionVerifier({ ...environment, foreignTokens: environment.signIn.foreignTokens }),
    signIn: createSignIn(environment),
  };
  const close = async (): Promise<void> => {
    deps.processes.close();
    deps.documentProcesses.close();
    deps.openapiProcesses.close();
    await Promise.all([
      pulse.stop(),
      db.destroy(),
      connection.close(),
      deps.chatUpstream.close(),
      deps.mcp.close(),
      outgoing.close(),
    ]);
  };
  return { deps, close };
}

function fail(logger: Logger, error: unknown): never {
  logger.fatal({ err: error }, 'the API ends');
  process.exit(1);
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`The API could not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
