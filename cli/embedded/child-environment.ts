import type { Environment } from '../../config/environment.js';
import { withSecretFiles } from '../../config/secret-files.js';
import type { StackSecrets } from './secrets-file.js';

export interface ServicePorts {
  api: number;
  workerMetrics: number;
}

export interface StackAddresses {
  /** The API's address on this machine. */
  apiUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  temporalUiUrl: string;
}

/** Settings for other servers: they do not fit the embedded ones, and credentials among them must not be sent there. */
export const FOREIGN_TEMPORAL = /^TEMPORAL_(API_KEY|TLS|CLIENT_|CONFIG_FILE|PROFILE|GRPC_META)/;
const FOREIGN_POSTGRES = /^PG[A-Z]/;

/**
 * Returns `env` with the contents of secret files, without empty variables, and with the generated secrets for
 * variables that are then not set.
 */
export function withSecrets(
  env: NodeJS.ProcessEnv,
  { INTERNAL_SERVICE_TOKEN, SECRETS_KEY, JWT_SECRET }: StackSecrets,
): NodeJS.ProcessEnv {
  const configured = Object.fromEntries(Object.entries(withSecretFiles(env)).filter(([, value]) => value !== ''));
  return { INTERNAL_SERVICE_TOKEN, SECRETS_KEY, JWT_SECRET, ...configured };
}

/**
 * Returns the environment of the API and the worker. ALLOW_PRIVATE_NETWORK, PUBLIC_URL and TEMPORAL_UI_URL of `env`
 * take precedence over the defaults. Ports and addresses are those that the parts of the stack use.
 */
export function childEnvironment(
  env: NodeJS.ProcessEnv,
  environment: Environment,
  ports: ServicePorts,
  addresses: StackAddresses,
): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(env).filter(([name]) => {
      if (!env['TEMPORAL_ADDRESS'] && FOREIGN_TEMPORAL.test(name)) return false;
      return !(environment.databaseUrl === undefined && FOREIGN_POSTGRES.test(name));
    }),
  );
  return {
    ALLOW_PRIVATE_NETWORK: 'true',
    PUBLIC_URL: addresses.apiUrl,
    ...(addresses.temporalUiUrl === '' ? {} : { TEMPORAL_UI_URL: addresses.temporalUiUrl }),
    ...inherited,
    // DATABASE_URL contains the password.
    DATABASE_PASSWORD: undefined,
    PORT: String(ports.api),
    HOST: environment.host,
    WORKER_METRICS_PORT: String(ports.workerMetrics),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: addresses.temporalNamespace,
  };
}
