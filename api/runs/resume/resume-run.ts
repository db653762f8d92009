// Accepts a run that resumes an earlier one: the run, what it takes over, and the runs below it are stored together.
import type { Transaction } from 'kysely';
import { START_GRACE_SECONDS } from '../../../acceptance/store-run.js';
import type { Logger } from '../../../config/logger.js';
import type { Db } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
import { claimChild, NODE_ITSELF } from '../../../db/runs/child-runs-repository.js';
import { holdResults, takeOver } from '../../../db/runs/resume-repository.js';
import { insertAcceptedRun, type RunFacts } from '../../../db/runs/runs-repository.js';
import { isSnapshotGone } from '../../../db/runs/snapshots-repository.js';
import { MAX_WAIT_SECONDS } from '../../../graph/nodes/timeout-field.js';
import type { AppDeps } from '../../deps.js';
import { ApiError } from '../../http/errors.js';
import { acceptOnce, beginStart, storeOnce, type Acceptance } from '../accept-run.js';
import type { KeyedRequest } from '../idempotency.js';
import { acceptedEnvelope } from '../run-envelope.js';
import { traceOfAcceptance } from '../run-traces.js';
import { planResumption, type ResumeRequest, type Resumption } from './resumption.js';

const MAX_SNAPSHOT_TRIES = 3;

export function resumeRun(
  deps: AppDeps,
  log: Logger,
  { keyed, ...request }: ResumeRequest & { keyed: KeyedRequest | undefined },
): Promise<Acceptance> {
  return acceptOnce(deps, keyed, async () => {
    const planned = await planResumption(deps, request);
    if ('refusal' in planned) return planned.refusal;
    const { resumption } = planned;
    const { id } = resumption.run.facts;
    if (!(await storeAll(deps, keyed, resumption))) return undefined;
    await beginStart(deps, log, request.workflow, resumption.run);
    return acceptedEnvelope(id);
  });
}

/** As in `storeRun`: a graph that is gone when its run is stored is stored again. */
async function storeAll(deps: AppDeps, keyed: KeyedRequest | undefined, resumption: Resumption): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const hashes = await storeGraphs(deps, resumption);
    const within = (transaction: Db): Promise<void> => insertAll(deps, transaction, resumption, hashes);
    try {
      return await storeOnce(deps, keyed, resumption.run.facts.id, (db) =>
        db.isTransaction
          ? within(db)
          : deps.db.transaction().execute((transaction: Transaction<Tables>) => within(transaction)),
      );
    } catch (error) {
      if (!isSnapshotGone(error) || tries === MAX_SNAPSHOT_TRIES) throw error;
      for (const hash of hashes.values()) deps.snapshots.forget(hash);
    }
  }
}

type Hashes = ReadonlyMap<Resumption, Buffer>;

async function storeGraphs({ snapshots }: AppDeps, resumption: Resumption): Promise<Hashes> {
  const hashes = new Map<Resumption, Buffer>();
  const open = [resumption];
  for (const each of open) {
    const { document, plan } = each.stored;
    hashes.set(each, each.snapshotHash ?? (await snapshots.store(JSON.stringify(document), plan)));
    open.push(...each.children.flatMap(({ child }) => (typeof child === 'string' ? [] : [child])));
  }
  return hashes;
}

/** `place`: of the run of a sub-workflow. */
async function insertAll(
  deps: AppDeps,
  transaction: Db,
  resumption: Resumption,
  hashes: Hashes,
  place: Partial<RunFacts> & { depth: number } = { depth: 0 },
): Promise<void> {
  const { earlierId, kept, children, run } = resumption;
  const { id } = run.facts;
  await hold(deps, transaction, earlierId);
  const facts = { ...run.facts, ...place, ...traceOfAcceptance(id), snapshot_hash: hashes.get(resumption)! };
  await insertAcceptedRun(transaction, facts, START_GRACE_SECONDS);
  await takeOver(transaction, earlierId, id, kept);
  const root = { root_run_id: place.root_run_id ?? id, depth: place.depth + 1 };
  for (const { nodeId, child, isAwaited } of children) {
    const childId = typeof child === 'string' ? child : child.run.facts.id;
    const untilMs = isAwaited ? Date.now() + MAX_WAIT_SECONDS * 1000 : null;
    const wait = { call: NODE_ITSELF, childId, untilMs };
    await claimChild(transaction, { runId: id, path: '', nodeId }, wait);
    if (typeof child === 'string') {
      if (isAwaited) await hold(deps, transaction, child);
      continue;
    }
    const parent = { parent_run_id: id, parent_path: '', parent_node_id: nodeId };
    await insertAll(deps, transaction, child, hashes, { ...root, ...parent });
  }
}

async function hold(deps: AppDeps, transaction: Db, runId: string): Promise<void> {
  if (await holdResults(transaction, runId, deps.config.resultRetentionDays)) return;
  throw new ApiError(400, 'run_expired', `The results of the run ${runId} have expired.`);
}
