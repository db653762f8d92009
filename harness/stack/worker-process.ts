// One more worker process beside the stack's, on the stack's servers and with its secrets.
import path from 'node:path';
import { secretsOf, startServiceProcess, type ServiceProcess } from './service-process.js';
import { modelProvidersFile, type TestStack } from './stack.js';
import { OWN_BUILD } from './supervisor.js';

/** Its `url` is the address of its health server. */
export type WorkerProcess = ServiceProcess;

export interface WorkerOptions {
  env?: Record<string, string>;
  /** The folder of the build; this checkout's by default. */
  dist?: string;
}

export function startWorkerProcess(stack: TestStack, options: WorkerOptions = {}): Promise<WorkerProcess> {
  const { SECRETS_KEY, INTERNAL_SERVICE_TOKEN } = secretsOf(stack);
  const { database_url: databaseUrl, temporal_address: temporalAddress, api_url: apiUrl } = stack.stack;
  return startServiceProcess(path.join(options.dist ?? OWN_BUILD, 'activities/worker/main.js'), {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    PUBLIC_URL: apiUrl,
    SECRETS_KEY,
    INTERNAL_SERVICE_TOKEN,
    FILES_DIR: path.join(stack.dataDir, 'files'),
    MODEL_PROVIDERS_FILE: modelProvidersFile(stack.dataDir),
    ALLOW_PRIVATE_NETWORK: 'true',
    WORKER_METRICS_PORT: '0',
    ...options.env,
  });
}
