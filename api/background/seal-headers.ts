// Seals the credential headers of drawings that earlier builds have stored as they are: of workflows, versions, and runs
// that have ended. It runs in every API process, and a lock admits one batch at a time. It waits while an earlier build
// is connected, which would send `********`. docs/operate/upgrade.md.
import { openSecrets, sealSecrets } from '../../acceptance/opened-drawing.js';
import { withAdvisoryLock } from '../../db/core/advisory-lock.js';
import type { Db } from '../../db/core/client.js';
import { isOlderBuildConnected } from '../../db/core/session-name.js';
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { hashDrawing, storeSnapshot } from '../../db/runs/snapshots-repository.js';
import {
  findSealing,
  isSealingDone,
  noteSealing,
  restartSealing,
  type Sealing,
} from '../../db/sealing/sealing-progress.js';
import {
  readVersionsToSeal,
  readWorkflowsToSeal,
  replaceDrawing,
  type DrawingToSeal,
} from '../../db/sealing/stored-drawings.js';
import {
  listUnsealedGraphs,
  moveRun,
  nextUnsealedGraph,
  readEndedRuns,
  readGraphsToSeal,
  settleGraph,
  type UnsealedGraph,
} from '../../db/sealing/stored-graphs.js';
import { splitRest, splitSecrets } from '../../graph/secrets.js';
import type { BackgroundDeps } from './deps.js';
import { pause, startLoop, type BackgroundLoop } from '../loops/background-loop.js';

const INTERVAL_MS = 60_000;
/** The pause between two batches leaves the process and the database to other work. */
const BETWEEN_BATCHES_MS = 20;
const FIRST_HASH = Buffer.alloc(0);

/** Where a round is among the graphs, and among the runs of the one after `graph`. */
interface Place {
  graph: Buffer;
  run: string | null;
}

type SealingDeps = Pick<BackgroundDeps, 'db' | 'secretBox' | 'logger'>;

/**
 * `waiting`: an earlier build is connected. `busy`: another process is at it. `left`: it is too early for the graphs of
 * runs, or there are some of runs that have not ended, or that cannot be read.
 */
type RoundOutcome = 'done' | 'left' | 'waiting' | 'busy' | 'stopped';

/** Runs a round at once, then every minute. `stop` resolves when the current batch has ended. */
export function startSealingHeaders(deps: SealingDeps): BackgroundLoop {
  return startLoop(async (stopped) => {
    await sealHeaders(deps, stopped).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'headers of stored drawings were not sealed; the next round goes on');
    });
    return INTERVAL_MS;
  });
}

/**
 * Seals all that can be sealed now. Each row is replaced by itself, only if it is still the one that was read, and the
 * progress is noted after each batch: whoever comes after a process that has died goes on from there.
 */
export async function sealHeaders(deps: SealingDeps, stopped: AbortSignal): Promise<RoundOutcome> {
  // Graphs are looked at once a round, however many of their runs are still open.
  let place: Place = { graph: FIRST_HASH, run: null };
  let isAnyLeft = false;
  for (;;) {
    const outcome = await withAdvisoryLock(deps.db, 'sealing', async (trx) => {
      if (await isOlderBuildConnected(trx)) {
        await restartSealing(trx);
        return 'waiting';
      }
      const next = await findSealing(trx);
      if (next !== undefined) {
        await noteSealing(trx, next.subject, await sealBatch(deps, trx, next));
        return 'more';
      }
      const graph = await nextUnsealedGraph(trx, place.graph);
      if (graph === undefined) return isAnyLeft || !(await isSealingDone(trx)) ? 'left' : 'done';
      const replaced = await replaceGraph(deps, graph, place.run);
      if (replaced === 'left') isAnyLeft = true;
      place = replaced === 'gone' || replaced === 'left' ? { graph: graph.hash, run: null } : { ...place, ...replaced };
      return 'more';
    });
    if (outcome !== 'more') return outcome ?? 'busy';
    await pause(BETWEEN_BATCHES_MS, stopped);
    if (stopped.aborted) return 'stopped';
  }
}

/** Seals the next rows of a table. Returns the key of the last one as a JSON list; null if there are no more. */
async function sealBatch(deps: SealingDeps, db: Db, { subject, after }: Sealing): Promise<string | null> {
  const key = after === null ? undefined : (JSON.parse(after) as (number | string)[]);
  if (subject === 'graph_snapshots') {
    const graphs = await readGraphsToSeal(db, key === undefined ? FIRST_HASH : Buffer.from(String(key[0]), 'hex'));
    const unsealed = graphs.filter(({ document }) => document !== null && hasSecrets(document));
    await listUnsealedGraphs(
      db,
      unsealed.map(({ hash }) => hash),
    );
    const last = graphs.at(-1)?.hash;
    return last === undefined ? null : JSON.stringify([last.toString('hex')]);
  }
  const [workflowId, version] = key === undefined ? [0, 0] : key.map(Number);
  const drawings =
    subject === 'workflows'
      ? await readWorkflowsToSeal(db, workflowId!)
      : await readVersionsToSeal(db, [workflowId!, version!]);
  for (const drawing of drawings) await sealDrawing(deps, drawing);
  const last = drawings.at(-1);
  if (last === undefined) return null;
  return JSON.stringify(last.version === null ? [last.workflowId] : [last.workflowId, last.version]);
}

function hasSecrets(document: Record<string, unknown>): boolean {
  return Object.keys(splitSecrets(document).secrets).length > 0;
}

async function sealDrawing({ db, secretBox, logger }: SealingDeps, stored: DrawingToSeal): Promise<void> {
  const { table, workflowId, version, projectId, document } = stored;
  if (document === null || !hasSecrets(document)) return;
  try {
    const place = { id: workflowId, project_id: projectId, secrets_enc: stored.secretsEnc };
    const { data, secrets } = splitRest({ data: document, secrets: openSecrets(secretBox, place) });
    const secretsEnc = sealSecrets(secretBox, secrets, 'workflow-secrets', projectId, workflowId);
    await replaceDrawing(db, stored, { document: JSON.stringify(data), secretsEnc: secretsEnc! });
  } catch (error) {
    const place = { table, workflow_id: workflowId, version };
    logger.warn({ err: error, ...place }, 'the headers of a stored drawing cannot be sealed');
  }
}

/**
 * Replaces a graph for the next of its runs that have ended. Those that are open keep it, because a worker of an earlier
 * build may have to go on with them. Returns the last run that was looked at, or whether the graph is gone.
 */
async function replaceGraph(
  { db, secretBox, logger }: SealingDeps,
  { hash, document, plan }: UnsealedGraph,
  afterRun: string | null,
): Promise<Pick<Place, 'run'> | 'gone' | 'left'> {
  const { masked, secrets } = splitSecrets(document);
  const text = JSON.stringify(masked);
  const runs = await readEndedRuns(db, hash, afterRun);
  if (runs.length === 0) return (await settleGraph(db, hash, hashDrawing(text))) ? 'gone' : 'left';
  const sealedHash = await storeSnapshot(db, text, plan);
  for (const run of runs) {
    const row = [run.projectId, run.id] as const;
    try {
      const all = { ...openRunSecrets(secretBox, run.secretsEnc, row), ...secrets };
      const secretsEnc = run.isExpired ? null : sealSecrets(secretBox, all, 'run-secrets', ...row);
      await moveRun(db, run, { from: hash, hash: sealedHash, secretsEnc });
    } catch (error) {
      logger.warn({ err: error, run_id: run.id }, 'the headers of the drawing of a run cannot be sealed');
    }
  }
  return { run: runs.at(-1)!.id };
}
