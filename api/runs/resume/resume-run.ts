// Accepts a run that resumes an earlier one. One transaction stores the run, the results that it reuses, and new runs
// that resume the earlier run's runs of sub-workflows.
import type { Transaction } from 'kysely';
import { START_GRACE_SECONDS, storeRuns } from '../../../acceptance/store-run.js';
import type { Logger } from '../../../telemetry/logger.js';
import type { Db } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
import { claimChild, NODE_ITSELF } from '../../../db/runs/child-runs-repository.js';
import { holdResults, copyReused } from '../../../db/resume/resume-repository.js';
import { insertAcceptedRun, type RunFacts } from '../../../db/runs/runs-repository.js';
import type { RunDeps } from '../deps.js';
import { ApiError } from '../../http/errors.js';
import { acceptOnce, startWithoutWaiting, storeOnce, type Acceptance } from '../accept-run.js';
import type { KeyedRequest } from '../idempotency.js';
import { acceptedEnvelope } from '../../envelope/run-envelope.js';
import { traceOfAcceptance } from '../run-traces.js';
import { planResumption, type ResumeRequest, type Resumption } from './resumption.js';

const DAY_MS = 86_400_000;

export function resumeRun(
  deps: RunDeps,
  log: Logger,
  { keyed, ...request }: ResumeRequest & { keyed: KeyedRequest | undefined },
): Promise<Acceptance> {
  return acceptOnce(deps, keyed, async () => {
    const planned = await planResumption(deps, request);
    if ('refusal' in planned) return planned.refusal;
    const { resumption } = planned;
    const { id } = resumption.run.facts;
    if (!(await storeAll(deps, keyed, resumption))) return undefined;
    await startWithoutWaiting(deps, log, request.workflow, resumption.run);
    return acceptedEnvelope(id);
  });
}

function storeAll(deps: RunDeps, keyed: KeyedRequest | undefined, resumption: Resumption): Promise<boolean> {
  const all = withChildren(resumption);
  const unstored = all.filter(({ snapshotHash }) => snapshotHash === undefined);
  const graphs = unstored.map(({ stored }) => stored);
  return storeRuns(deps.snapshots, graphs, (fresh) => {
    const hashes = new Map(all.map((each) => [each, each.snapshotHash ?? fresh[unstored.indexOf(each)]!]));
    const within = (transaction: Db): Promise<void> => insertAll(deps, transaction, resumption, hashes);
    return storeOnce(deps, keyed, resumption.run.facts.id, (db) =>
      db.isTransaction
        ? within(db)
        : deps.db.transaction().execute((transaction: Transaction<Tables>) => within(transaction)),
    );
  });
}

/** Returns the resumption, followed by those of all runs of sub-workflows that are resumed with it. */
function withChildren(resumption: Resumption): Resumption[] {
  const below = resumption.children.flatMap(({ child }) => (typeof child === 'string' ? [] : withChildren(child)));
  return [resumption, ...below];
}

type Hashes = ReadonlyMap<Resumption, Buffer>;

/** `place`: for the run of a sub-workflow, its root run, its depth, and the waiting node of the parent run. */
async function insertAll(
  deps: RunDeps,
  transaction: Db,
  resumption: Resumption,
  hashes: Hashes,
  place: Partial<RunFacts> & { depth: number } = { depth: 0 },
): Promise<void> {
  const { earlierId, reused, children, run } = resumption;
  const { id } = run.facts;
  await hold(deps, transaction, earlierId);
  const facts = { ...run.facts, ...place, ...traceOfAcceptance(id), snapshot_hash: hashes.get(resumption)! };
  await insertAcceptedRun(transaction, facts, START_GRACE_SECONDS);
  const sources = [{ from: earlierId, reused }];
  await copyReused(transaction, deps.secretBox, { to: id, projectId: facts.project_id, sources });
  const root = { root_run_id: place.root_run_id ?? id, depth: place.depth + 1 };
  for (const { nodeId, child, isAwaited } of children) {
    const childId = typeof child === 'string' ? child : child.run.facts.id;
    const untilMs = isAwaited ? Date.now() + deps.config.runTimeoutDays * DAY_MS : null;
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

export async function hold(deps: RunDeps, transaction: Db, runId: string): Promise<void> {
  if (await holdResults(transaction, runId, deps.config.resultRetentionDays)) return;
  throw new ApiError(400, 'run_expired', `The results of the run ${runId} have expired.`);
}
