// Finds results of earlier runs that a test may reuse: those of the newest run that executed the node when the node and
// everything before it were as they are now, and in which no node before it was mocked or pinned
// (docs/use/test-runs.md, "Where the other results come from"). Runs that resume others do not use this file: they
// compare two drawings by `changedNodes` (graph/changed-nodes.ts).
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { findEarlierRun, findEndsAt, findNewestRuns, type EarlierRun } from '../../db/resume/resume-repository.js';
import { haveStarted } from '../../db/test-runs/run-results-repository.js';
import { findFixedNodes } from '../../db/test-runs/test-runs-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { PlannedDrawing } from '../../graph/changed-nodes.js';
import { readDrawing } from '../../graph/document.js';
import { enclosingLoops, handlesAfter, type Handle, type NodeKey } from '../../graph/plan.js';
import { pushTo } from '../../graph/push-to.js';
import { joinSecrets } from '../../graph/secrets.js';
import { findVariables } from '../../graph/template.js';
import type { TestDeps } from './deps.js';
import { fingerprintsOf } from './fingerprints.js';

/** Only this many runs are searched, newest first. */
const MOST_RUNS = 50;

type Place = Omit<NodeKey, 'runId'>;

export interface Source extends Place {
  runId: string;
  handles: Handle[];
}

/** A loop whose items, or whose round before the tested one, are reused. */
export interface LoopSource extends Place {
  runId: string;
  index: number;
}

export interface Sources {
  /** Keyed by `placeKey`. */
  results: Map<string, Source>;
  /** Keyed by the ids of the loops. */
  loops: Map<string, LoopSource>;
}

interface Wanted {
  workflowId: number;
  now: PlannedDrawing;
  results: readonly Place[];
  /** The loops around the tested node, each with the iteration in which the node is tested. */
  loops: readonly (Place & { index: number })[];
}

export function placeKey(path: string, nodeId: string): string {
  return `${path} ${nodeId}`;
}

/**
 * Returns the sources that exist for the wanted results and for the items of the wanted loops. The items of all loops
 * come from one run.
 */
export async function findSources(
  { db, secretBox, config }: Pick<TestDeps, 'db' | 'secretBox' | 'config'>,
  { workflowId, now, results, loops }: Wanted,
): Promise<Sources> {
  const found: Sources = { results: new Map(), loops: new Map() };
  if (results.length + loops.length === 0) return found;
  const { resultRetentionDays: retentionDays } = config;
  const fingerprints = fingerprintsOf(now);
  const numbers = new Map(now.plan.ids.map((id, number) => [id, number]));
  const paths = [...new Set(results.map(({ path }) => path))];
  const known = new Map<string, ReadonlyMap<string, string>>();
  for (const runId of await findNewestRuns(db, workflowId, { retentionDays, limit: MOST_RUNS })) {
    const left = new Set(
      results.flatMap(({ path, nodeId }) => {
        const key = placeKey(path, nodeId);
        return found.results.has(key) ? [] : [key];
      }),
    );
    const lacksLoops = loops.length > 0 && found.loops.size === 0;
    if (left.size === 0 && !lacksLoops) break;
    const ends = await findEndsAt(db, runId, ['', ...paths.filter((path) => path !== '')]);
    const ended = ends.filter(({ path, nodeId, isReused }) => !isReused && left.has(placeKey(path, nodeId)));
    const hasItems = lacksLoops && (await haveStarted(db, runId, loops));
    const earlier = ended.length === 0 && !hasItems ? undefined : await findEarlierRun(db, runId, retentionDays);
    if (earlier === undefined || earlier.isExpired) continue;
    const secrets = openRunSecrets(secretBox, earlier.secretsEnc, [earlier.projectId, earlier.id]);
    const key = `${earlier.snapshotHash.toString('hex')} ${JSON.stringify(secrets)}`;
    const then = known.get(key) ?? fingerprintsThen(earlier, joinSecrets(earlier.document, secrets));
    known.set(key, then);
    const doubtful = behind(now, await findFixedNodes(db, runId));
    // A test of a node in a loop has executed one iteration only, so the loop's own result is not usable.
    for (const number of Object.keys(earlier.plan.only ?? {})) doubtful.add(earlier.plan.ids[Number(number)]!);
    const stands = (nodeId: string): boolean => then.get(nodeId) === fingerprints.get(nodeId) && !doubtful.has(nodeId);
    for (const end of ended) {
      const { path, nodeId } = end;
      const handles = stands(nodeId) ? handlesAfter(end, now.plan, numbers.get(nodeId)!) : undefined;
      if (handles !== undefined) found.results.set(placeKey(path, nodeId), { runId, path, nodeId, handles });
    }
    if (!hasItems || !loops.every(({ nodeId }) => stands(nodeId))) continue;
    for (const loop of loops) found.loops.set(loop.nodeId, { ...loop, runId });
  }
  return found;
}

/** Compiles the drawing again, because the plan of a test run covers only a part of its drawing. */
function fingerprintsThen({ plan }: EarlierRun, drawing: Record<string, unknown>): ReadonlyMap<string, string> {
  const compiled = compilePlan(drawing);
  return fingerprintsOf({ drawing, plan: compiled.ok ? compiled.plan : plan });
}

/** Returns these nodes, all nodes that follow them or read their results, and the loops around them. */
function behind({ drawing, plan }: PlannedDrawing, from: readonly string[]): Set<string> {
  const found = new Set(from);
  if (from.length === 0) return found;
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  const around = enclosingLoops(plan);
  const readers = readersOf(drawing);
  // The set grows while it is iterated.
  for (const id of found) {
    const number = numbers.get(id);
    for (const reader of readers.get(id) ?? []) found.add(reader);
    if (number === undefined) continue;
    for (const [to] of plan.out[number]!) found.add(plan.ids[to]!);
    for (const loop of around[number]!) found.add(plan.ids[loop]!);
  }
  return found;
}

/** Maps each node to the nodes whose data names it in a variable. */
function readersOf(drawing: Record<string, unknown>): Map<string, string[]> {
  const readers = new Map<string, string[]>();
  for (const { id, data } of readDrawing(drawing).document.nodes) {
    for (const variable of findVariables(data)) {
      if (variable.source !== 'node' && variable.source !== 'error') continue;
      pushTo(readers, variable.nodeId, id);
    }
  }
  return readers;
}
