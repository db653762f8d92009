// The worker process: executes the run workflow and its activities.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import {
  DefaultLogger,
  NativeConnection,
  Worker,
  type ActivitySlotInfo,
  type LogEntry,
  type WorkerOptions,
  type WorkflowSlotInfo,
} from '@temporalio/worker';
import { sql } from 'kysely';
import { ConfigError } from '../../config/environment.js';
import { portOf, startHealthServer } from '../../telemetry/health-server.js';
import { createLogger, type Logger } from '../../telemetry/logger.js';
import { createDataConverter } from '../../config/payload-encryption.js';
import { registerPoolMetrics } from '../../telemetry/pool-metrics.js';
import { onStopSignal } from '../../config/stop-signals.js';
import { tellState } from '../../telemetry/tell-state.js';
import { startTracing } from '../../telemetry/tracing.js';
import { createConnections } from '../../connections/open-connection.js';
import { createDatabase } from '../../db/core/client.js';
import { NoConnectionError } from '../../db/core/outage.js';
import { DatabasePulse } from '../../db/core/pulse.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import { openFiles } from '../../files/open-files.js';
import { loadWorkerConfig, type WorkerConfig } from './config.js';
import { createActivities } from './create-activities.js';
import { createSandbox } from '../kinds/code/sandbox.js';
import { createErrorHygieneInterceptor } from './error-hygiene-interceptor.js';
import { createLocalCancellation } from './local-cancellation.js';
import { withLeanThreads } from './lean-threads/lean-threads.js';
import { ByteBudget } from '../../memory/byte-budget.js';
import { createMcpClient } from '../../outgoing/mcp-client.js';
import { createOutgoingClient } from '../../outgoing/outgoing-client.js';
import { createProcesses, DOCUMENT_LIMITS } from '../../processes/processes.js';
import { createCallbackUrls } from '../node/callback-urls.js';
import { becomeFirst } from '../../deployments/first-build.js';
import { DEFAULT_POOL, queueOfPool } from '../../graph/pools.js';
import { createRunContexts } from '../node/run-context.js';
import { buildIdOf } from './build-id.js';
import { ProjectSlots } from './project-slots.js';
import { createProjectSlotsInterceptor } from './project-slots-interceptor.js';
import { startLifeReports } from './report-life.js';
import { Slots } from './slots.js';
import { installRuntime } from './sdk-metrics.js';
import { createWorkerMetrics, registerWorkerLoad } from './worker-metrics.js';

/** A node with a lighter payload than this never waits for memory behind large ones. */
const UNCOUNTED_BYTES = 1024 * 1024;
/**
 * These limits are high, because local activities and workflow tasks mostly wait for the database, memory or a thread.
 */
const LOCAL_ACTIVITIES = 400;
const WORKFLOW_TASKS = 100;
const POLLS = 10;
const DATABASE_CONNECTIONS = 20;
/** The time that a node waits for a database connection. If the wait failed sooner, the node would lose an attempt. */
const CONNECT_TIMEOUT_MS = 20_000;
/**
 * The time after SIGTERM in which nodes in flight may finish before they are handed back. The process must end within
 * 15 s, because after that time it counts as ended (`isGone` in db/pools/).
 */
const SHUTDOWN_GRACE = '9s';
const SHUTDOWN_FORCE = '12s';

async function main(): Promise<void> {
  const config = loadWorkerConfig(process.env);
  // Until the worker runs, there is nothing to finish or to hand back.
  let stop = (): void => process.exit(0);
  onStopSignal(() => stop());
  const logger = createLogger('worker', config.logLevel, config);
  const [readSdkMetrics, tracing] = await Promise.all([
    installRuntime({ logger: createSdkLogger(logger), shutdownSignals: [] }),
    startTracing('worker', config, logger),
  ]);
  const metrics = createWorkerMetrics();
  const onChange = tellState(logger);
  const pulse = new DatabasePulse({ url: config.databaseUrl, applicationName: 'worker-pulse', onChange });
  const db = createDatabase({
    url: config.databaseUrl,
    pulse,
    awayPatienceMs: CONNECT_TIMEOUT_MS,
    poolMax: DATABASE_CONNECTIONS,
    applicationName: 'worker',
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    onPool: (pool) => registerPoolMetrics(metrics.registry, pool),
    onError: (error) => logger.warn({ code: (error as { code?: string }).code }, 'database connection lost'),
  });
  const outgoing = createOutgoingClient(config.addressRules);
  const mcp = createMcpClient(config.addressRules);
  // This client may reach private addresses, because it only calls the API at the address that the operator configures.
  // It is never given an address from a drawing.
  const ownMcp = createMcpClient({ allowPrivateNetwork: true });
  const sandbox = createSandbox();
  const processes = createProcesses();
  const documents = createProcesses(undefined, DOCUMENT_LIMITS);
  const secretBox = createSecretBox(config.secretsKeys);
  const connections = createConnections({ db, secretBox, outgoing });
  const files = openFiles(db, config.secretsKeys, config);
  const callbacks = createCallbackUrls(db, secretBox, config.publicUrl);
  const connection = await connect(config, logger);
  const memory = new ByteBudget({ totalBytes: config.payloadMemoryMb * 1_000_000, uncountedBytes: UNCOUNTED_BYTES });
  const contexts = createRunContexts({ db, secretBox, memory, metrics, callbacks });
  const dataConverter = createDataConverter(config.payloadKeys);
  const temporal = new Client({ connection, namespace: config.temporal.namespace, dataConverter });
  const slots = new ProjectSlots({ slots: config.activitySlots, projectSlots: config.projectSlots });
  const holdSlots = createProjectSlotsInterceptor({ slots, contexts, handedBack: metrics.handedBack });
  const localCancellation = createLocalCancellation();
  const version = versionOf(config);
  const self = { id: randomUUID(), pool: config.pool, buildId: version?.buildId ?? null };
  const takesDecisions = config.pool === DEFAULT_POOL;
  const options: WorkerOptions = {
    connection,
    namespace: config.temporal.namespace,
    taskQueue: queueOfPool(config.taskQueue, config.pool),
    // Without workflow code, the worker asks for activities alone.
    ...(takesDecisions && workflowCode(config)),
    ...workflowOptions(config, version, pulse),
    dataConverter,
    activities: createActivities({
      ...config,
      db,
      secretBox,
      contexts,
      callbacks,
      outgoing,
      connections,
      files,
      mcp,
      ownMcp,
      sandbox,
      processes,
      documents,
      memory,
      slots,
      temporal,
      logger,
      metrics,
      workerId: self.id,
      buildId: self.buildId,
    }),
    interceptors: { activity: [localCancellation.interceptor, createErrorHygieneInterceptor(logger), holdSlots] },
    ...(takesDecisions && { sinks: localCancellation.sinks }),
    // The SDK holds a heartbeat back for at most 2 s, the interval of heartbeats, so a cancellation arrives within 2 s.
    maxHeartbeatThrottleInterval: '2s',
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
  };
  const worker = await withLeanThreads(() => Worker.create(options));
  registerWorkerLoad(metrics.registry, config, () => ({ ...worker.getStatus(), ...slots.load() }));
  const health = await startHealthServer(config.host, config.metricsPort, {
    registry: metrics.registry,
    moreMetrics: readSdkMetrics,
    async readiness() {
      if (pulse.state === 'no answer') throw new NoConnectionError();
      await sql`SELECT 1`.execute(db);
      await files.checkStore();
      const isReady = worker.getState() === 'RUNNING';
      return { isReady, body: { status: isReady ? 'ok' : 'unavailable' } };
    },
  });
  const life = await startLifeReports(db, self, logger);
  const build = version && { deployment: version.deploymentName, build_id: version.buildId };
  logger.info({ port: portOf(health), task_queue: options.taskQueue, pool: config.pool, ...build }, 'worker started');
  process.send?.({ type: 'ready', port: portOf(health) });
  const stopping = new AbortController();
  try {
    const drained = worker.run();
    if (version !== undefined && takesDecisions)
      void takeFirstRuns(config, version, { connection, logger, signal: stopping.signal });
    stop = () => {
      stopping.abort();
      pulse.endWaits();
      void life.stop();
      // A worker that has failed is shutting down already.
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    await drained;
  } finally {
    stopping.abort();
    await life.stop();
    health.close();
    sandbox.close();
    processes.close();
    documents.close();
    await Promise.allSettled([
      connection.close(),
      outgoing.close(),
      mcp.close(),
      ownMcp.close(),
      pulse.stop(),
      db.destroy(),
    ]);
    await tracing.shutdown();
  }
  logger.info('worker stopped');
}

/**
 * Uses the bundle of the build if it exists (production), else bundles the sources at start. The failure converter is
 * part of the bundle, so encryption needs its own bundle.
 */
function workflowCode(config: WorkerConfig) {
  const bundle = bundleOf(config);
  if (existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  const workflowsPath = fileURLToPath(new URL('../../temporal-workflows/index.ts', import.meta.url));
  const interceptorsPath = fileURLToPath(new URL('../../temporal-workflows/interceptors.ts', import.meta.url));
  return {
    workflowsPath,
    interceptors: { workflowModules: [interceptorsPath] },
    bundlerOptions: { preloadModules: [workflowsPath, interceptorsPath] },
  };
}

function bundleOf({ payloadKeys }: WorkerConfig): string {
  const name = payloadKeys.length === 0 ? 'workflow-bundle.js' : 'workflow-bundle-encrypting.js';
  return fileURLToPath(new URL(`../../${name}`, import.meta.url));
}

type WorkerVersion = ReturnType<typeof versionOf>;

/**
 * Returns undefined for an unversioned worker. Throws `ConfigError` if no build id is configured and there is no bundle
 * from which it could be computed.
 */
function versionOf(config: WorkerConfig) {
  const { version } = config;
  return version && { ...version, buildId: version.buildId ?? buildIdOf(bundleOf(config)) };
}

/**
 * Makes this build current if it is the first one and no unversioned run is open. Logs whether new runs start on it,
 * and if not, the command that changes this. Never rejects.
 */
async function takeFirstRuns(
  { temporal: { namespace }, taskQueue }: WorkerConfig,
  { deploymentName, buildId }: NonNullable<WorkerVersion>,
  { connection, logger, signal }: { connection: NativeConnection; logger: Logger; signal: AbortSignal },
): Promise<void> {
  const { workflowService } = connection;
  const command = `npm run --silent admin -- deployment set-current ${buildId}`;
  try {
    const first = await becomeFirst(
      { workflowService, namespace, name: deploymentName },
      { buildId, taskQueue, signal },
    );
    if (first === 'current') logger.info({ build_id: buildId }, 'new runs start on this build');
    else if (first === 'taken') logger.info({ command }, 'another build is current: this one gets no new runs');
    else logger.warn({ command }, 'unversioned runs are open, so no build was made current');
  } catch (error) {
    if (!signal.aborted) logger.warn({ err: error, command }, 'it is unknown which build is current');
  }
}

/**
 * A versioned worker gets no runs until its build is made current. Runs then stay on their build until they
 * end (docs/operate/upgrade.md).
 */
function workflowOptions(
  { activitySlots, cachedWorkflows }: WorkerConfig,
  version: WorkerVersion,
  pulse: DatabasePulse,
): Partial<WorkerOptions> {
  // Without a cache, the SDK drops a run's local activities as soon as another run has a task. So only
  // one task may be open at a time.
  const workflowTasks = cachedWorkflows === 0 ? 1 : Math.min(WORKFLOW_TASKS, cachedWorkflows);
  return {
    maxCachedWorkflows: cachedWorkflows,
    // The SDK allows no more pollers than slots, unless a tuner is set. A poller holds a slot while it polls, so with
    // more pollers than slots, those of the sticky queue could leave no slot for those of the normal queue.
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: Math.min(POLLS, workflowTasks) },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: Math.min(POLLS, activitySlots) },
    tuner: {
      workflowTaskSlotSupplier: new Slots<WorkflowSlotInfo>(workflowTasks, pulse),
      // May exceed the database connections, because an activity holds one only for a statement or a transaction.
      activityTaskSlotSupplier: new Slots<ActivitySlotInfo>(activitySlots, pulse),
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: LOCAL_ACTIVITIES },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    // An unversioned worker must not set this. The server would refuse all its workflow tasks, and
    // runs would hang without an error.
    ...(version === undefined
      ? {}
      : { workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' } }),
  };
}

const RECONNECT_AFTER_MS = 1_000;

/** Retries, because Temporal may start after the worker. */
async function connect({ temporal }: WorkerConfig, logger: Logger): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect({
        ...temporal.connectionOptions,
        // Without TLS, Temporal is taken to be in the same network, where compression costs more than it saves.
        ...(temporal.connectionOptions.tls ? {} : { grpcCompression: { codec: 'none' } }),
      });
    } catch (error) {
      logger.warn({ address: temporal.connectionOptions.address, err: error }, 'Temporal is not reachable yet');
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_AFTER_MS));
    }
  }
}

function createSdkLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    const { error, ...rest } = meta ?? {};
    const line = { ...rest, ...(error === undefined ? {} : { err: error }), source: 'temporal' };
    if (level === 'ERROR') logger.error(line, message);
    else if (level === 'WARN') logger.warn(line, message);
    else logger.debug(line, message);
  });
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else createLogger('worker', 'info').fatal({ err: error }, 'worker failed');
  // Open handles would keep alive a worker that does nothing, and no supervisor would restart it.
  process.exit(1);
});
