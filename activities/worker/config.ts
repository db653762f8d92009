import { parseEnvironment, required } from '../../config/environment.js';
import { loadModelProviders } from '../../config/model-providers.js';
import { loadTemporalConnection } from '../../config/temporal-connection.js';

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>;

/** Reads the worker's configuration from its environment. Throws ConfigError. */
export function loadWorkerConfig(env: NodeJS.ProcessEnv) {
  const environment = parseEnvironment(env);
  return {
    databaseUrl: required(environment, 'databaseUrl', 'DATABASE_URL'),
    secretsKeys: required(environment, 'secretsKeys', 'SECRETS_KEY'),
    internalServiceToken: required(environment, 'internalServiceToken', 'INTERNAL_SERVICE_TOKEN').split(',')[0]!.trim(),
    apiInternalUrl: environment.apiInternalUrl.replace(/\/$/, ''),
    publicUrl: environment.publicUrl,
    allowPrivateNetwork: environment.allowPrivateNetwork,
    taskQueue: environment.temporalTaskQueue,
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
    cachedWorkflows: environment.workerCachedWorkflows,
    version: environment.workerVersion,
  };
}
