// Executes polls with random changes of the run between their statements, and checks that no answer is older than an
// earlier one. `POLL_INTERLEAVINGS=10000` tries more interleavings, and `POLL_SEED=7` other ones. A failure reports its
// seed.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { decideRequest } from '../../../db/agents/approvals-repository.js';
import { deleteProject } from '../../../db/cascades/delete-project.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { onBehalfOf } from '../../../db/core/tenants.js';
import { recordIteration, startIterations } from '../../../db/nodes/iterations-repository.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { purgeRuns } from '../../../db/retention/retention-repository.js';
import { readRunForPoll, readRunHead, type PolledRun } from '../../../db/runs/poll-repository.js';
import type { PolledState } from '../../../db/runs/polled-run.js';
import { endRun } from '../../../db/runs/run-life.js';
import { readRunStates } from '../../../db/watches/run-watches-repository.js';
import type { NodeKind } from '../../../graph/kinds.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const INTERLEAVINGS = Number(process.env['POLL_INTERLEAVINGS'] ?? 40);
const FIRST_SEED = Number(process.env['POLL_SEED'] ?? randomInt(2 ** 31));
const READERS = 2;
const RESULT = '{"content":"done","value":1}';

type Random = (below: number) => number;
type Step = () => Promise<unknown>;

function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The progress that an answer reports. No number may be lower in a later answer. */
type Told = Record<string, number>;

/** Returns 1 for an open run, 2 for an ended one, and 3 if it is deleted, expired or not visible. */
function phaseOf(run: PolledState | undefined): number {
  if (run === undefined || run.isExpired || !run.isVisible) return 3;
  return run.status === 'In Progress' ? 1 : 2;
}

function toTold(run: PolledRun | undefined): Told {
  const phase = phaseOf(run);
  if (run === undefined || phase === 3) return { phase };
  const nodes = run.nodes.flatMap((node) => [
    [`${node.id} status`, node.status === 'in progress' ? 1 : 2],
    [`${node.id} started iterations`, (node.iterations?.in_progress ?? 0) + (node.iterations?.succeeded ?? 0)],
    [`${node.id} ended iterations`, node.iterations?.succeeded ?? 0],
  ]);
  return { phase, version: run.version, output: Number(run.output !== undefined), ...Object.fromEntries(nodes) };
}

function assertNotBehind(now: Told, before: Told, what: string): void {
  if (now['phase'] === 3) return;
  for (const [name, value] of Object.entries(before)) {
    assert.ok((now[name] ?? 0) >= value, `${what}: ${name} is ${now[name]} after ${value}`);
  }
}

function join(a: Told, b: Told): Told {
  const names = [...Object.keys(a), ...Object.keys(b)];
  return Object.fromEntries(names.map((name) => [name, Math.max(a[name] ?? 0, b[name] ?? 0)]));
}

describe('polls between whose statements a run changes', function () {
  this.timeout(60_000 + INTERLEAVINGS * 2_000);
  let db: Database;
  let reading: Database;
  /** Called before each statement of a poll. */
  let beforeStatement: () => Promise<void> = () => Promise.resolve();

  before(async () => {
    const { stack } = await sharedStack();
    db = await connect();
    reading = createDatabase({
      url: stack.database_url,
      poolMax: READERS,
      applicationName: 'test',
      takeShare: async () => {
        await beforeStatement();
        return () => undefined;
      },
      onError: () => undefined,
    });
  });
  after(() => Promise.all([db.destroy(), reading.destroy()]));

  /** Returns the steps of a node. A plain node may be recorded only at its end, like nodes that are not claimed. */
  function stepsOf(run: OpenRun, index: number, kind: NodeKind, random: Random): Step[] {
    const nodeId = run.nodeIds[index]!;
    const key = { runId: run.id, path: '', nodeId };
    const claim = (): Promise<unknown> => claimNode(db, key);
    const record = (): Promise<unknown> => recordNodeEnd(db, nodeEnd(run, nodeId, kind, { result: RESULT }));
    if (kind === 'for_each') {
      const end = (at: number, next?: number): Promise<unknown> =>
        recordIteration(db, { loop: key, index: at, result: '{"content":""}', resultEnc: null, next });
      const begin = (): Promise<unknown> => startIterations(db, key, { total: 3, indexes: [0, 1] });
      return [claim, begin, () => end(1, 2), () => end(0), () => end(2), record];
    }
    if (kind === 'agent') {
      const requestId = `${run.id}-${index}`;
      const ask = (): Promise<unknown> =>
        sql`INSERT INTO approval_requests
          (request_id, run_id, project_id, path, node_id, turn, ordinal, server_label, tool_name, arguments, expires_at)
          VALUES (${requestId}, ${run.id}, ${run.projectId}, '', ${nodeId}, 0, 0, 'tools', 'add', '{}',
            now() + interval '1 hour')`.execute(db);
      const decided = { decision: 'approved', reason: '', userId: run.userId, role: 'owner' } as const;
      return [claim, ask, () => decideRequest(db, { runId: run.id, requestId, ...decided }), record];
    }
    return random(2) === 0 ? [record] : [claim, record];
  }

  /**
   * Interleaves the steps of the nodes and keeps the order of each node. Then the run ends, and its results expire, its
   * project is deleted, or neither.
   */
  function script(run: OpenRun, kinds: NodeKind[], random: Random): Step[] {
    const queues = kinds.map((kind, index) => stepsOf(run, index, kind, random));
    const steps: Step[] = [];
    while (queues.some((queue) => queue.length > 0)) {
      const step = queues[random(queues.length)]!.shift();
      if (step !== undefined) steps.push(step);
    }
    const expire = (): Promise<unknown> =>
      sql`UPDATE runs SET results_expired_at = now() - interval '10 years', is_purge_pending = true
        WHERE id = ${run.id}`.execute(db);
    const purge = (): Promise<unknown> => db.transaction().execute((transaction) => purgeRuns(transaction, 500));
    const leave: Step[][] = [[expire, purge], [() => deleteProject(db, run.projectId)], []];
    return [...steps, () => endRun(db, run.id, { status: 'succeed' }), ...leave[random(3)]!];
  }

  async function readBetween(kinds: NodeKind[], random: Random): Promise<void> {
    const run = await openRun(db, kinds);
    const member = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
    await db.insertInto('project_members').values(member).execute();
    const poll = { runId: run.id, userId: run.userId };
    const steps = script(run, kinds, random);
    /** The minimum progress that an answer with this version must report. */
    const byVersion = new Map<number, Told>();
    let writing = Promise.resolve();
    const step = async (): Promise<void> => {
      const next = steps.shift();
      if (next === undefined) return;
      await next();
      const [now, [state], head] = [
        await readRunForPoll(db, poll, 30),
        await readRunStates(db, [run.id]),
        await readRunHead(db, poll, 30),
      ];
      if (now !== undefined && phaseOf(now) < 3) {
        assert.deepEqual([state!.stateTag, head!.stateTag], [now.stateTag, now.stateTag], 'all readers count alike');
        byVersion.set(now.version, toTold(now));
      }
    };
    const stepsAfter = async (earlier: Promise<void>, count: number): Promise<void> => {
      await earlier;
      for (let each = 0; each < count; each++) await step();
    };
    beforeStatement = () => {
      writing = stepsAfter(writing, random(4));
      return writing;
    };
    let seen: Told = {};
    const readOn = async (): Promise<void> => {
      for (let more = 3; more > 0; more -= steps.length === 0 ? 1 : 0) {
        const before = seen;
        const isHead = random(3) === 0;
        const head = isHead ? await onBehalfOf('reader', () => readRunHead(reading, poll, 30)) : undefined;
        const found = isHead ? undefined : await onBehalfOf('reader', () => readRunForPoll(reading, poll, 30));
        const told = isHead
          ? { phase: phaseOf(head), ...(phaseOf(head) < 3 && { version: head!.version }) }
          : toTold(found);
        assertNotBehind(
          told,
          isHead ? { phase: before['phase'] ?? 0, version: before['version'] ?? 0 } : before,
          'back',
        );
        if (before['phase'] === 3) assert.equal(told['phase'], 3, 'what is gone stays gone');
        if (!isHead) assertNotBehind(told, byVersion.get(told['version'] ?? 0) ?? {}, 'less than its version');
        if (found !== undefined) assertComplete(found, kinds);
        seen = join(seen, told);
      }
    };
    await Promise.all(Array.from({ length: READERS }, readOn));
    beforeStatement = () => Promise.resolve();
    await writing;
  }

  function assertComplete(run: PolledRun, kinds: NodeKind[]): void {
    if (phaseOf(run) === 3) assert.deepEqual([run.nodes, run.output], [[], undefined]);
    if (phaseOf(run) !== 2) return;
    const told = run.nodes.map(({ status, result, approvals, waiting }) => [status, result, approvals, waiting]);
    assert.deepEqual(
      told,
      kinds.map(() => ['succeed', RESULT, null, null]),
    );
    assert.deepEqual(run.output, kinds.includes('output') ? { text: '1' } : undefined);
    const counts = { total: 3, succeeded: 3, failed: 0, in_progress: 0 };
    for (const { iterations } of run.nodes) if (iterations) assert.deepEqual(iterations, counts);
    assert.equal(
      run.nodes.filter(({ iterations }) => iterations).length,
      kinds.filter((kind) => kind === 'for_each').length,
    );
  }

  const drawings: NodeKind[][] = [
    ['http', 'http', 'output'],
    ['http', 'code', 'llm', 'http', 'http'],
    ['agent', 'http', 'output'],
    ['for_each', 'http', 'output'],
    ['for_each', 'agent', 'http'],
  ];
  it(`no answer goes back, and no end comes with less than all of the run (${INTERLEAVINGS} times)`, async () => {
    for (let at = 0; at < INTERLEAVINGS; at++) {
      const seed = FIRST_SEED + at;
      await readBetween(drawings[at % drawings.length]!, createRandom(seed)).catch((error: unknown) => {
        throw new Error(`POLL_SEED=${seed}`, { cause: error });
      });
    }
  });
});
