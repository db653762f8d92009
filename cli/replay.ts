// `npm run --silent replay -- ...`: checks before a deploy that the build in dist/ can continue the runs that its
// options name. Prints one line per execution of a run, and the counts; the exit code is 1 if the build cannot continue
// one of them, or if the check itself fails. TEMPORAL_PAYLOAD_KEY decrypts their histories.
import path from 'node:path';
import {
  Client,
  Connection,
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  type ConnectionOptions,
  type HistoryAndWorkflowId,
} from '@temporalio/client';
import { Command, InvalidArgumentError } from 'commander';
import { parseEnvironment } from '../config/environment.js';
import { createDataConverter } from '../config/payload-encryption.js';
import { loadTemporalConnection } from '../config/temporal-connection.js';
import { StartError } from './embedded/start-error.js';
import { exitWith } from './exit.js';
import { readHistoryFile, historiesByQuery, historiesOfRun } from './replay/histories.js';
import { replayHistories } from './replay/replay-histories.js';

interface Options {
  query?: string;
  limit?: number;
  workflowId?: string[];
  file?: string[];
}

/**
 * The bundle that workers of this build run without TEMPORAL_PAYLOAD_KEY. The bundle for workers with that key makes
 * the same decisions, but encrypts messages of failures, and with them the reason of a problem.
 */
const BUNDLE = path.resolve(import.meta.dirname, '../workflow-bundle.js');
const CONNECT_TIMEOUT_MS = 5_000;

const program = new Command('replay')
  .description('Replays recorded runs on the build in dist/. The server is that of TEMPORAL_ADDRESS and its siblings.')
  .option('--query <filter>', `runs that a list filter finds, such as "StartTime > '2026-01-31T00:00:00Z'"`)
  .option(
    '--limit <number>',
    'at most so many of them: first the open ones, then those that ended last; without it all',
    parseLimit,
  )
  .option('--workflow-id <id...>', 'these runs, by their ids')
  .option('--file <path...>', 'histories as temporal workflow show --output json prints them')
  .parse();

try {
  const isCompatible = await replay(program.opts<Options>());
  process.exit(isCompatible ? 0 : 1);
} catch (error) {
  exitWith(explain(error));
}

async function replay(options: Options): Promise<boolean> {
  const { query, workflowId: ids = [], file: files = [] } = options;
  if (query === undefined && ids.length === 0 && files.length === 0) {
    throw new StartError('Nothing to replay: give --query, --workflow-id or --file.');
  }
  const { temporalPayloadKeys: keys } = parseEnvironment(process.env);
  const histories = files.map(readHistoryFile);
  if (query === undefined && ids.length === 0) return report(histories, keys);
  const { connectionOptions, namespace } = loadTemporalConnection(process.env);
  const connection = await connect(connectionOptions);
  try {
    const client = new Client({ connection, namespace, dataConverter: createDataConverter(keys) });
    return await report(all(histories, client, options), keys);
  } finally {
    await connection.close();
  }
}

async function* all(
  histories: HistoryAndWorkflowId[],
  client: Client,
  { query, limit, workflowId: ids = [] }: Options,
): AsyncGenerator<HistoryAndWorkflowId> {
  yield* histories;
  for (const id of ids) yield* historiesOfRun(client, id);
  if (query !== undefined) yield* historiesByQuery(client, query, limit);
}

async function report(
  histories: AsyncIterable<HistoryAndWorkflowId> | HistoryAndWorkflowId[],
  keys: readonly Buffer[],
): Promise<boolean> {
  let [count, broken] = [0, 0];
  for await (const { workflowId, runId, problem } of replayHistories(histories, { codePath: BUNDLE }, keys)) {
    count++;
    if (problem !== undefined) broken++;
    const run = `${workflowId} ${runId}`;
    process.stdout.write(problem === undefined ? `ok     ${run}\n` : `BROKEN ${run}: ${problem}\n`);
  }
  process.stdout.write(`${count} replayed, ${broken} broken\n`);
  return broken === 0;
}

async function connect(options: ConnectionOptions & { address: string }): Promise<Connection> {
  try {
    return await Connection.connect({ ...options, connectTimeout: CONNECT_TIMEOUT_MS });
  } catch {
    throw new StartError(`Temporal does not answer at ${options.address} (TEMPORAL_ADDRESS).`);
  }
}

function explain(error: unknown): unknown {
  if (error instanceof WorkflowNotFoundError) return new StartError(`${error.workflowId}: Temporal has no such run.`);
  if (!isGrpcServiceError(error) && !(error instanceof ServiceError)) return error;
  const { details } = (isGrpcServiceError(error) ? error : (error.cause ?? {})) as { details?: string };
  return new StartError(`Temporal: ${(details ?? error.message).split('\n', 1)[0]!}.`);
}

function parseLimit(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('A whole number from 1.');
  return value;
}
