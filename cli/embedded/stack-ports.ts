import type { Environment } from '../../config/environment.js';
import { claimPort } from './ports.js';

export interface StackPorts {
  api: number;
  workerMetrics: number;
  /** Undefined when DATABASE_URL names a database. */
  postgres: number | undefined;
  /** Undefined when TEMPORAL_ADDRESS names a server. */
  temporal: number | undefined;
  temporalUi: number | undefined;
}

/**
 * The ports are chosen once, so restarted children keep theirs. Throws StartError that names the variable of a taken
 * port.
 */
export async function claimStackPorts(environment: Environment, env: NodeJS.ProcessEnv): Promise<StackPorts> {
  const { host, port, postgresPort, temporalPort, temporalUiPort, workerMetricsPort } = environment;
  const hasTemporal = !env['TEMPORAL_ADDRESS'];
  return {
    api: await claimPort({ port, host, variable: 'PORT' }),
    workerMetrics: await claimLocal(env['WORKER_METRICS_PORT'] ? workerMetricsPort : 0, 'WORKER_METRICS_PORT'),
    postgres: environment.databaseUrl === undefined ? await claimLocal(postgresPort, 'POSTGRES_PORT') : undefined,
    temporal: hasTemporal ? await claimLocal(temporalPort, 'TEMPORAL_PORT') : undefined,
    temporalUi: hasTemporal ? await claimLocal(temporalUiPort, 'TEMPORAL_UI_PORT') : undefined,
  };
}

function claimLocal(port: number, variable: string): Promise<number> {
  return claimPort({ port, host: '127.0.0.1', variable });
}
