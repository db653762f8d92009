// The ports of the stack, and how children get ports that they can listen on.
import type { Environment } from '../../config/environment.js';
import { claimPort, isInUse, type PortRequest } from './ports.js';

export interface StackPorts {
  api: PortRequest;
  workerMetrics: PortRequest;
  /** Undefined if DATABASE_URL is set. */
  postgres: PortRequest | undefined;
  /** The ports of the server and of its UI; undefined if TEMPORAL_ADDRESS is set. */
  temporal: [PortRequest, PortRequest] | undefined;
}

/** If other processes take the ports in this many attempts, the cause is not chance. */
const ATTEMPTS = 3;

export function stackPorts(environment: Environment, env: NodeJS.ProcessEnv): StackPorts {
  const { host, port, postgresPort, temporalPort, temporalUiPort, workerMetricsPort } = environment;
  const local = (number: number, variable: string): PortRequest => ({ port: number, host: '127.0.0.1', variable });
  return {
    api: { port, host, variable: 'PORT' },
    workerMetrics: local(env['WORKER_METRICS_PORT'] ? workerMetricsPort : 0, 'WORKER_METRICS_PORT'),
    postgres: environment.databaseUrl === undefined ? local(postgresPort, 'POSTGRES_PORT') : undefined,
    temporal: env['TEMPORAL_ADDRESS']
      ? undefined
      : [local(temporalPort, 'TEMPORAL_PORT'), local(temporalUiPort, 'TEMPORAL_UI_PORT')],
  };
}

/**
 * Checks early all ports that are not 0, including defaults: `startOnPorts` claims a port only when its child starts,
 * so an unusable one would be noticed late. Throws StartError that names the variable.
 */
export async function checkNamedPorts({ api, workerMetrics, postgres, temporal }: StackPorts): Promise<void> {
  for (const request of [api, workerMetrics, postgres, ...(temporal ?? [])]) {
    if (request !== undefined && request.port !== 0) await claimPort(request);
  }
}

/**
 * Claims the ports and calls `start` with them. If another process takes a port that was requested as 0 before the
 * child listens on it, claims ports and calls `start` again, at most `ATTEMPTS` times in all. A port with a number is
 * never replaced. `start` must have ended its children when it rejects.
 */
export async function startOnPorts<T, const Requests extends PortRequest[]>(
  requests: Requests,
  start: (...ports: { [K in keyof Requests]: number }) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const ports: number[] = [];
    for (const request of requests) ports.push(await claimPort(request));
    try {
      return await start(...(ports as { [K in keyof Requests]: number }));
    } catch (error) {
      const picked = requests.flatMap(({ port, host }, at) => (port === 0 ? [{ port: ports[at]!, host }] : []));
      const inUse = await Promise.all(picked.map(isInUse));
      if (attempt === ATTEMPTS || !inUse.includes(true)) throw error;
    }
  }
}
