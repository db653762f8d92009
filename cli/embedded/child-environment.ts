import type { Environment } from '../../config/environment.js';
import type { StackSecrets } from './secrets-file.js';
import type { StackPorts } from './stack-ports.js';

export interface StackAddresses {
  /** As reached from this machine. */
  apiUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  temporalUiUrl: string;
}

/** Credentials of other servers, which must not be sent to the embedded ones. */
const FOREIGN_TEMPORAL = /^TEMPORAL_(API_KEY|TLS|CLIENT_|CONFIG_FILE|PROFILE|GRPC_META)/;
const FOREIGN_POSTGRES = /^PG[A-Z]/;

/**
 * What the API and the worker get: the person's own variables, completed for the embedded parts. What the person has set
 * wins, also an explicit ALLOW_PRIVATE_NETWORK=false.
 */
export function childEnvironment(
  env: NodeJS.ProcessEnv,
  environment: Environment,
  secrets: StackSecrets,
  ports: StackPorts,
  addresses: StackAddresses,
): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => {
      if (value === '') return false; // an empty variable counts as unset
      if (ports.temporal !== undefined && FOREIGN_TEMPORAL.test(name)) return false;
      return !(ports.postgres !== undefined && FOREIGN_POSTGRES.test(name));
    }),
  );
  const hasSessionTokens = environment.jwtSecret !== undefined || environment.jwtJwksUrl !== undefined;
  return {
    ALLOW_PRIVATE_NETWORK: 'true',
    API_INTERNAL_URL: addresses.apiUrl,
    INTERNAL_SERVICE_TOKEN: secrets.INTERNAL_SERVICE_TOKEN,
    SECRETS_KEY: secrets.SECRETS_KEY,
    ...(hasSessionTokens ? {} : { JWT_SECRET: secrets.JWT_SECRET }),
    ...(addresses.temporalUiUrl === '' ? {} : { TEMPORAL_UI_URL: addresses.temporalUiUrl }),
    ...inherited,
    PORT: String(ports.api),
    HOST: environment.host,
    WORKER_METRICS_PORT: String(ports.workerMetrics),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: addresses.temporalNamespace,
  };
}
