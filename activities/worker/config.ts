import {
  ConfigError,
  DEFAULT_DEPLOYMENT,
  parseEnvironment,
  required,
  type Environment,
} from '../../config/environment.js';
import { loadModelProviders } from '../../config/model-providers.js';
import { loadTemporalConnection } from '../../config/temporal-connection.js';

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>;

/**
 * By default, the worker caches two runs for each slot, and at least this many, because about as many runs are active
 * as there are slots. A run takes a tenth of a MiB. The SDK's default would be two thousand runs on a large machine.
 */
const LEAST_CACHED_WORKFLOWS = 200;

/** Throws `ConfigError`. */
export function loadWorkerConfig(env: NodeJS.ProcessEnv) {
  const environment = parseEnvironment(env);
  return {
    databaseUrl: required(environment, 'databaseUrl', 'DATABASE_URL'),
    secretsKeys: required(environment, 'secretsKeys', 'SECRETS_KEY'),
    fileStore: environment.fileStore,
    maxFileBytes: environment.maxFileBytes,
    publicUrl: environment.publicUrl,
    internalApiUrl: environment.internalApiUrl,
    execution: environment.execution,
    runTimeoutDays: environment.runTimeoutDays,
    addressRules: environment.addressRules,
    taskQueue: environment.temporalTaskQueue,
    pool: environment.workerPool,
    temporal: loadTemporalConnection(env),
    payloadKeys: environment.temporalPayloadKeys,
    providers: loadModelProviders(environment, env),
    activitySlots: environment.workerActivitySlots,
    projectSlots: environment.workerProjectSlots,
    payloadMemoryMb: environment.workerPayloadMemoryMb,
    metricsPort: environment.workerMetricsPort,
    host: environment.host,
    logLevel: environment.logLevel,
    isTracing: environment.isTracing,
    cachedWorkflows:
      environment.workerCachedWorkflows ?? Math.max(LEAST_CACHED_WORKFLOWS, 2 * environment.workerActivitySlots),
    version: versionOf(environment),
  };
}

/**
 * Returns undefined for an unversioned worker. Without a build id, the worker names its build after its version and its
 * workflow bundle. Throws if a deployment or a build is named without WORKER_VERSIONING, because the worker would
 * silently be unversioned and its runs would break at the next build.
 */
function versionOf(environment: Environment): { deploymentName: string; buildId: string | undefined } | undefined {
  const { workerVersioning, workerDeploymentName: name, workerBuildId: buildId } = environment;
  if (workerVersioning) return { deploymentName: name ?? DEFAULT_DEPLOYMENT, buildId };
  const variable = name === undefined ? 'WORKER_BUILD_ID' : 'WORKER_DEPLOYMENT_NAME';
  if ((name ?? buildId) !== undefined)
    throw new ConfigError(`${variable}: must not be set without WORKER_VERSIONING=true.`);
  return undefined;
}
