// Reads Temporal's address and credentials from the SDK's own variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_API_KEY, TEMPORAL_TLS*).
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ConfigError } from './environment.js';

interface TemporalConnectionConfig {
  namespace: string;
  connectionOptions: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']> & { address: string };
}

/** Throws `ConfigError`. */
export function loadTemporalConnection(env: NodeJS.ProcessEnv): TemporalConnectionConfig {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      disableFile: true,
      overrideEnvVars: definedOnly(env),
    });
    const address = connectionOptions?.address ?? '127.0.0.1:7233';
    return { namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address } };
  } catch (error) {
    throw new ConfigError(`TEMPORAL_*: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
