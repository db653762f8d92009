// One more API process beside the stack's, on the stack's database and with its secrets. It takes part in the
// background work of the stack's API, such as the delivery of webhooks, so it may call the same addresses.
import path from 'node:path';
import { secretsOf, startServiceProcess, type ServiceProcess } from './service-process.js';
import type { TestStack } from './stack.js';
import { OWN_BUILD } from './supervisor.js';

export interface ApiProcess extends Omit<ServiceProcess, 'url'> {
  apiUrl: string;
}

const ENTRY = path.join(OWN_BUILD, 'api/main.js');

export async function startApiProcess(stack: TestStack, env: Record<string, string> = {}): Promise<ApiProcess> {
  const { database_url: databaseUrl, temporal_address: temporalAddress } = stack.stack;
  const { SECRETS_KEY, INTERNAL_SERVICE_TOKEN, JWT_SECRET } = secretsOf(stack);
  const environment = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    SECRETS_KEY,
    INTERNAL_SERVICE_TOKEN,
    JWT_SECRET,
    FILES_DIR: path.join(stack.dataDir, 'files'),
    ALLOW_PRIVATE_NETWORK: 'true',
    SESSION_RATE_LIMIT: '1000000',
    ...env,
  };
  // Writes into the stack's logs, because the process also does the stack's background work.
  const { url, ...service } = await startServiceProcess(ENTRY, environment, path.join(stack.dataDir, 'logs'));
  return { apiUrl: url, ...service };
}
