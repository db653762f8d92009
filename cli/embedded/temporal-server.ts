// The embedded Temporal: the official dev server with its web UI. Its state is stored in a file.
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { RUN_SEARCH_ATTRIBUTES } from '../../contract/run-workflow.js';
import type { Command } from './child-process.js';

interface TemporalOptions {
  binary: string;
  /** An absolute path. */
  dataDir: string;
  port: number;
  uiPort: number;
  namespace: string;
  /** The source of PATH and HOME. */
  env: NodeJS.ProcessEnv;
}

interface TemporalServer {
  address: string;
  uiUrl: string;
  command: Command;
  isReady: () => Promise<boolean>;
}

const HOST = '127.0.0.1';

/**
 * The keys are spelled as in the server's common/dynamicconfig/constants.go. The server silently ignores keys that
 * differ in upper and lower case.
 */
export const dynamicConfig: Record<string, unknown> = {
  // Polls per second and shard. The dev server has one shard, and the default of 20 adds about 45 ms to
  // every step of a run.
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'history.visibilityProcessorMaxPollRPS': 2000,
  'history.outboundProcessorMaxPollRPS': 2000,
  // A worker gets an activity with the answer to the workflow task that scheduled it, without polling a task queue.
  'system.enableActivityEagerExecution': true,
  // The number of queries that may wait for a busy workflow. With the default of 1, Temporal refuses
  // further queries of a busy run.
  'history.MaxBufferedQueryCount': 50,
  // With few pollers, the default of four partitions only adds forwarding between them.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // Dispatches waiting tasks round-robin by project: runs carry their project as fairness key.
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
};

export function createTemporalServer(options: TemporalOptions): TemporalServer {
  const { binary, dataDir, port, uiPort, namespace, env } = options;
  const address = `${HOST}:${port}`;
  const args = ['server', 'start-dev', '--ip', HOST, '--port', String(port), '--ui-port', String(uiPort)];
  args.push('--db-filename', path.join(dataDir, 'temporal.db'), '--log-level', 'warn', '--namespace', namespace);
  // Write-ahead logging with fewer syncs doubles the throughput. A crash of the process loses nothing; a crash of the
  // machine may lose the latest changes.
  for (const pragma of ['journal_mode=WAL', 'synchronous=NORMAL']) args.push('--sqlite-pragma', pragma);
  for (const [name, type] of Object.entries(RUN_SEARCH_ATTRIBUTES)) args.push('--search-attribute', `${name}=${type}`);
  for (const [key, value] of Object.entries(dynamicConfig)) {
    args.push('--dynamic-config-value', `${key}=${JSON.stringify(value)}`);
  }
  return {
    address,
    uiUrl: `http://${HOST}:${uiPort}`,
    // Pass only these variables, because the user's own TEMPORAL_* settings are for other servers.
    command: {
      file: binary,
      args,
      env: { PATH: env['PATH'], HOME: env['HOME'], TZ: 'UTC' },
    },
    isReady: () => answers(address, namespace),
  };
}

/**
 * Returns true if the namespace exists with its search attributes, which the server adds after it has
 * started to listen.
 */
async function answers(address: string, namespace: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.keys(RUN_SEARCH_ATTRIBUTES).every((name) => Object.hasOwn(customAttributes ?? {}, name));
  } finally {
    await connection.close();
  }
}
