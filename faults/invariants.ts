// Checks the invariants of the fault matrix (docs/operate/faults.md). The functions are pure, so that tests can show
// that each invariant can fail.
import { isDeepStrictEqual } from 'node:util';
import { type Violation, type Report } from './report.js';
import { checkAnswered } from './answered.js';
import { checkBooks, checkProject } from './books.js';
import { checkBelow } from './below.js';
import { placeOf, type Evidence, type ExpectedNode, type HitRecord, type RunEvidence } from './evidence.js';

const isTerminal = (status: string): boolean => status === 'succeed' || status === 'failed';

/** Returns the violations, or an empty list if the fault was survived. */
export function checkEvidence(evidence: Evidence): Violation[] {
  const violations: Violation[] = [];
  for (const run of evidence.runs) {
    const report: Report = (invariant, message) => {
      violations.push({ invariant, message: `run ${run.runId ?? '(none)'} (${run.shape}, ${run.tag}): ${message}` });
    };
    checkAcceptance(run, report);
    checkEnd(run, report);
    checkData(run, evidence, report);
    for (const part of withChildren(run)) {
      checkBooks(part, report);
      checkFinished(part, evidence, report);
    }
    checkBelow(run, report);
    checkAnswered(run, report);
    checkRepeats(run, evidence, report);
    checkAnswers(run, evidence.hits, report);
  }
  checkProject(evidence, (invariant, message) => violations.push({ invariant, message }));
  for (const message of evidence.complaints) violations.push({ invariant: 'fault', message });
  return violations;
}

/** Returns the run and the runs that its nodes have started. */
function withChildren(run: RunEvidence): Pick<RunEvidence, 'runId' | 'expected' | 'stored'>[] {
  const children = run.children.map((stored) => {
    const parent = run.expected.find(({ id, path = '' }) => id === stored.parentNodeId && path === stored.parentPath);
    return { runId: stored.runId, expected: parent?.child ?? [], stored };
  });
  return [run, ...children];
}

/** Returns the number of repeated calls. */
export function countRepeats({ runs, calls }: Evidence): number {
  const keys = runs.flatMap(({ expected }) => withBelow(expected).flatMap((node) => node.calls.map(({ key }) => key)));
  return keys.reduce((sum, key) => sum + Math.max(0, (calls[key] ?? 0) - 1), 0);
}

/** Returns the nodes and those of their child runs. */
function withBelow(nodes: ExpectedNode[]): ExpectedNode[] {
  return nodes.flatMap((node) => [node, ...(node.child ?? [])]);
}

function checkAcceptance({ runId }: RunEvidence, report: Report): void {
  if (runId === undefined) report('accepted', 'no request to start it was ever answered with 201');
}

/** Every run reaches one terminal status and keeps it, in every poll and in the database. */
function checkEnd({ runId, statuses, firstTerminal, later, stored, ending }: RunEvidence, report: Report): void {
  if (runId === undefined) return;
  if (firstTerminal === undefined) return report('ends once', `it did not end; polls showed ${statuses.join(', ')}`);
  const ORDER = ['in queue', 'in progress', firstTerminal.status];
  const places = statuses.map((status) => ORDER.indexOf(status));
  if (places.includes(-1) || places.some((place, index) => index > 0 && place < places[index - 1]!)) {
    report('ends once', `its polls went ${statuses.join(' -> ')}`);
  }
  const changed = later.find(({ status }) => status !== firstTerminal.status);
  if (changed !== undefined) report('ends once', `was ${firstTerminal.status}, and later ${changed.status}`);
  const shown = stored?.status === 'Succeeded' ? 'succeed' : 'failed';
  if (stored === undefined || stored.status === 'In Progress' || shown !== firstTerminal.status) {
    report('ends once', `polls say ${firstTerminal.status}, the database ${stored?.status ?? 'nothing'}`);
  }
  if ((ending === 'Cancelled' || ending === 'Error') && stored?.status !== ending) {
    report('ends once', `it must end as ${ending} and is ${stored?.status ?? 'not stored'}`);
  }
}

function checkData(run: RunEvidence, { hits, calls }: Evidence, report: Report): void {
  const { firstTerminal: poll, expected, ending } = run;
  if (poll === undefined) return;
  for (const after of run.later) {
    if (!isDeepStrictEqual(after.nodes, poll.nodes))
      report('data', 'a later poll shows other data than the first terminal one');
  }
  const open = Object.values(poll.nodes).filter(({ status }) => !isTerminal(status));
  if (open.length > 0) report('data', `terminal, but ${open.length} of its nodes were not`);
  if (ending === 'Cancelled' || ending === 'Error') return;
  if (poll.status === 'succeed' && ending === 'succeed') return checkResults(expected, poll.nodes, report);
  const unknown = expected.find(({ id }) => poll.nodes[id]?.error?.code === 'outcome_unknown');
  if (unknown === undefined) {
    const codes = Object.values(poll.nodes).map(({ status, error }) => error?.code ?? status);
    return report('data', `it must end as ${ending} and is ${poll.status}: ${codes.join(', ')}`);
  }
  if (!wasCut(run, unknown, { hits, calls })) {
    report('data', `${unknown.label} failed with outcome_unknown, but no call of it was in flight at the fault`);
  }
  if (unknown.calls.every(({ mayRepeat }) => mayRepeat)) {
    report(
      'data',
      `${unknown.label} failed with outcome_unknown after ${calls[unknown.calls[0]?.key ?? ''] ?? 0} calls`,
    );
  }
}

/** A successful run shows exactly the expected nodes outside loops, each with this run's result. */
function checkResults(
  expected: ExpectedNode[],
  nodes: Record<string, { status: string; result?: { content: string } }>,
  report: Report,
): void {
  for (const { id, label, marker } of expected.filter(({ path }) => path === undefined)) {
    const entry = nodes[id];
    if (entry === undefined) report('data', `${label} is missing from the first terminal poll`);
    else if (entry.status !== 'succeed') report('data', `succeeded with ${label} ${entry.status}`);
    else if (!entry.result?.content.includes(marker)) report('data', `${label} has a result that is not its own`);
  }
  const strangers = Object.keys(nodes).filter((id) => expected.every((node) => node.id !== id));
  if (strangers.length > 0) report('data', `it shows nodes that must not run: ${strangers.join(', ')}`);
}

/**
 * The kernel repeats a packet after pauses that double, so a claim that was sent while PostgreSQL was cut off may be
 * executed up to this long after the cut. The worker has given up the claim by then, and never makes the call.
 */
const LATE_CLAIM_MS = 30_000;

/** Returns true if the ledger had a call of the node in flight when a hit could cut it. */
function wasCut(
  { stored }: RunEvidence,
  node: ExpectedNode,
  { hits, calls }: Pick<Evidence, 'hits' | 'calls'>,
): boolean {
  const finishedAt = stored?.nodes.find(({ nodeId }) => nodeId === node.id)?.finishedAt ?? Number.POSITIVE_INFINITY;
  const sent = (stored?.claims ?? []).filter(({ nodeId }) => nodeId === node.id);
  const isUnmade = node.calls.some(({ key, mayRepeat }) => !mayRepeat && (calls[key] ?? 0) === 0);
  return hits.some(({ cuts, from, until }) => {
    if (cuts === 'nothing' || (cuts === 'claims' && !isUnmade)) return false;
    return finishedAt >= from && sent.some(({ sentAt }) => sentAt <= until + (isUnmade ? LATE_CLAIM_MS : 0));
  });
}

/** A call that was recorded before a hit is not repeated after it. */
function checkFinished(
  { runId, expected }: Pick<RunEvidence, 'runId' | 'expected'>,
  { hits, calls }: Evidence,
  report: Report,
): void {
  for (const hit of hits) {
    for (const { step, ...finished } of hit.finished.filter((each) => each.runId === runId)) {
      const node = expected.find(({ id, path }) => placeOf({ path, nodeId: id }) === placeOf(finished));
      for (const call of node?.calls ?? []) {
        if (step !== null && call.step !== step) continue;
        const [before, after] = [hit.calls[call.key] ?? 0, calls[call.key] ?? 0];
        if (after > before)
          report(
            'finished stays',
            `${node?.label} was recorded before ${hit.what} and called again (${before}, then ${after})`,
          );
      }
    }
  }
}

function checkRepeats({ expected, firstTerminal }: RunEvidence, { hits, calls }: Evidence, report: Report): void {
  const times = hits.filter(({ cuts }) => cuts === 'calls').length;
  for (const { id, path, label, calls: made } of withBelow(expected)) {
    for (const { key, mayRepeat } of made) {
      const count = calls[key] ?? 0;
      const most = mayRepeat ? 1 + times : 1;
      if (count > most) report('repeats', `${label} was called ${count} times (${key}), ${most} at most`);
      const hasResult = path === undefined && firstTerminal?.nodes[id]?.status === 'succeed';
      if (count === 0 && hasResult) report('repeats', `${label} has a result though it was never called (${key})`);
    }
  }
}

/** A request of a client may fail only during a hit with `apiDown`. */
function checkAnswers({ failures }: RunEvidence, hits: HitRecord[], report: Report): void {
  const down = hits.filter(({ apiDown }) => apiDown);
  for (const { from, until, what } of failures) {
    if (down.some((hit) => from <= hit.until && until >= hit.from)) continue;
    report('answers', `${what}, at a moment when the API had no reason for it`);
  }
}
