// Finds results of earlier runs that still stand: of the newest run that has the node, and everything before it, as it is now.
// The rule of what is unchanged is the one of resume. Extensions, section 11.
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { findEarlierRun, findEndedNodes, findNewestRuns, type EarlierRun } from '../../db/runs/resume-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { PlannedDrawing } from '../../graph/changed-nodes.js';
import { handlesAfter, rootPlan, type Handle } from '../../graph/plan.js';
import { joinSecrets } from '../../graph/secrets.js';
import type { AppDeps } from '../deps.js';
import { fingerprintsOf } from './fingerprints.js';

/** The runs that are looked through, the newest first. */
const MOST_RUNS = 50;

export interface Source {
  runId: string;
  handles: Handle[];
}

interface Wanted {
  workflowId: number;
  now: PlannedDrawing;
  nodeIds: ReadonlySet<string>;
}

/** Returns where the results of the wanted nodes are, for those of which there is any. */
export async function findSources(
  { db, secretBox, config }: Pick<AppDeps, 'db' | 'secretBox' | 'config'>,
  { workflowId, now, nodeIds }: Wanted,
): Promise<Map<string, Source>> {
  const found = new Map<string, Source>();
  if (nodeIds.size === 0) return found;
  const { resultRetentionDays: retentionDays } = config;
  const fingerprints = fingerprintsOf(now);
  const root = rootPlan(now.plan);
  const numbers = new Map(root.ids.map((id, number) => [id, number]));
  const known = new Map<string, ReadonlyMap<string, string>>();
  for (const runId of await findNewestRuns(db, workflowId, { retentionDays, limit: MOST_RUNS })) {
    const left = [...nodeIds].filter((id) => !found.has(id));
    if (left.length === 0) break;
    const ends = await findEndedNodes(db, runId);
    const ended = ends.filter(({ nodeId }) => left.includes(nodeId));
    const earlier = ended.length === 0 ? undefined : await findEarlierRun(db, runId, retentionDays);
    if (earlier === undefined || earlier.isExpired) continue;
    const secrets = openRunSecrets(secretBox, earlier.secretsEnc, [earlier.projectId, earlier.id]);
    const key = `${earlier.snapshotHash.toString('hex')} ${JSON.stringify(secrets)}`;
    const then = known.get(key) ?? fingerprintsThen(earlier, joinSecrets(earlier.document, secrets));
    known.set(key, then);
    const mocked = behind(
      root,
      ends.flatMap(({ nodeId, source }) => (source === 'mock' ? [nodeId] : [])),
    );
    for (const end of ended) {
      const { nodeId } = end;
      if (then.get(nodeId) !== fingerprints.get(nodeId) || mocked.has(nodeId)) continue;
      const handles = handlesAfter(end, root, numbers.get(nodeId)!);
      if (handles !== undefined) found.set(nodeId, { runId, handles });
    }
  }
  return found;
}

/** The plan of a test is not that of its drawing. */
function fingerprintsThen({ plan }: EarlierRun, drawing: Record<string, unknown>): ReadonlyMap<string, string> {
  const compiled = compilePlan(drawing);
  return fingerprintsOf({ drawing, plan: compiled.ok ? compiled.plan : plan });
}

/** Returns these nodes and all that they lead to. */
function behind({ ids, out }: ReturnType<typeof rootPlan>, from: readonly string[]): Set<string> {
  const found = new Set(from.map((id) => ids.indexOf(id)).filter((node) => node >= 0));
  // The set grows while it is iterated.
  for (const node of found) for (const [to] of out[node]!) found.add(to);
  return new Set([...found].map((node) => ids[node]!));
}
