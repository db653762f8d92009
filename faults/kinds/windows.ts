// The two windows in which a process can die knowing something that nobody else knows.
import pg from 'pg';
import { eventually } from '../../test/support/eventually.js';
import type { Ending } from '../evidence.js';
import type { Fault } from '../fault.js';
import { killParts, partsReplaced } from '../parts.js';
import { ask, callTool, inRow, request, type Outside, type Part } from '../shapes.js';
import type { Stage } from '../stage.js';
import type { World } from '../world.js';

/** Long enough for the lock to be taken before the answer comes. */
const SLOW_MS = 1_500;

interface Unrecorded {
  name: string;
  title: string;
  part: (outside: Outside) => Part;
  ending: Ending;
  /** How often the call is made in all. */
  calls: number;
}

const unrecorded: Unrecorded[] = [
  { name: 'llm', title: 'LLM node', part: () => ask('slow'), ending: 'succeed', calls: 2 },
  { name: 'get', title: 'GET', part: (outside) => request(outside, 'get', SLOW_MS), ending: 'succeed', calls: 2 },
  {
    name: 'post',
    title: 'POST',
    part: (outside) => request(outside, 'post', SLOW_MS, 'POST'),
    ending: 'outcome unknown',
    calls: 1,
  },
  {
    name: 'mcp',
    title: 'MCP tool',
    part: (outside) => callTool(outside, 'tool', SLOW_MS),
    ending: 'outcome unknown',
    calls: 1,
  },
];

const answersLost: Fault[] = unrecorded.map(({ name, title, part, ending, calls }) => ({
  name: `unrecorded-${name}`,
  title: `worker dies between the answer and its record: ${title}`,
  async apply(stage) {
    const { world } = stage;
    const run = await stage.start(inRow(`unrecorded ${name}`, [part(world.outside)]), ending);
    const node = run.evidence.expected.at(-1)!;
    const { key } = node.calls[0]!;
    const runId = await run.accepted;
    await eventually(() => world.countCalls()[key] === 1, { timeoutMs: 30_000 });
    await loseRecord(stage, runId, node.id);
    await run.ended;
    const made = world.countCalls()[key];
    if (made !== calls) stage.complain(`the ${title} was called ${made} times, not ${calls}`);
  },
}));

/**
 * The node's row is locked from outside, so that its record waits; waiting, it shows that the answer has come. The dead
 * worker's connection is ended too: PostgreSQL would carry out the statement that it has taken, and nothing would be lost.
 */
async function loseRecord(stage: Stage, runId: string, nodeId: string): Promise<void> {
  const { world } = stage;
  const lock = await lockNode(world, runId, nodeId);
  try {
    await eventually(async () => (await lock.waiting()).length > 0, { timeoutMs: 15_000 });
    await stage.hit(
      { what: 'kill -9 of the worker before its record', cuts: 'calls', apiDown: false, ends: ['worker'] },
      async () => {
        const pids = { ...world.stack.stack.pids };
        process.kill(pids.worker!, 'SIGKILL');
        for (const pid of await lock.waiting()) await world.query('SELECT pg_terminate_backend($1)', [pid]);
        await eventually(async () => (await lock.waiting()).length === 0);
        await lock.release();
        await partsReplaced(world, ['worker'], pids);
      },
    );
  } finally {
    await lock.release();
  }
}

interface NodeLock {
  /** PostgreSQL's processes that wait for it. */
  waiting: () => Promise<number[]>;
  release: () => Promise<void>;
}

async function lockNode(world: World, runId: string, nodeId: string): Promise<NodeLock> {
  // The first try in a fresh run is marked as begun only after a while.
  const isMarked = 'SELECT FROM node_results WHERE run_id = $1 AND node_id = $2';
  await eventually(async () => (await world.query(isMarked, [runId, nodeId])).length === 1, { timeoutMs: SLOW_MS });
  const client = new pg.Client({ connectionString: world.stack.stack.database_url });
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ status: string; pid: number }>(
    'SELECT status, pg_backend_pid() AS pid FROM node_results WHERE run_id = $1 AND node_id = $2 FOR UPDATE',
    [runId, nodeId],
  );
  const [locked] = rows;
  if (locked?.status !== 'in progress') await client.end();
  if (locked?.status !== 'in progress') throw new Error(`the window was missed: the node is ${locked?.status}`);
  let released: Promise<void> | undefined;
  return {
    async waiting() {
      const text = 'SELECT pid FROM pg_stat_activity WHERE $1::integer = ANY(pg_blocking_pids(pid))';
      return (await world.query<{ pid: number }>(text, [locked.pid])).map(({ pid }) => pid);
    },
    release: () => (released ??= client.end()),
  };
}

/**
 * Temporal is frozen, so that the start of an accepted run hangs; then the API dies, and with Temporal the request in its
 * socket, which it would carry out when it goes on.
 */
const startLost: Fault = {
  name: 'unstarted',
  title: 'API dies between accepting a run and starting it',
  async apply(stage) {
    const { world } = stage;
    const pids = { ...world.stack.stack.pids };
    await stage.hit(
      { what: 'kill -9 of the API before its start', cuts: 'calls', apiDown: true, ends: ['api', 'temporal'] },
      async () => {
        process.kill(pids.temporal!, 'SIGSTOP');
        const runs = [];
        for (const index of [1, 2, 3]) {
          runs.push(await stage.start(inRow(`unstarted ${index}`, [request(world.outside, 'get', 200)])));
        }
        const tags = runs.map(({ evidence }) => evidence.tag);
        const stored = async () => {
          const text = "SELECT 1 FROM runs WHERE project_id = $1 AND input->>'tag' = ANY($2)";
          return (await world.query(text, [stage.projectId, tags])).length;
        };
        await eventually(async () => (await stored()) === runs.length);
        await killParts(world, ['api', 'temporal']);
      },
    );
  },
};

export const windows: Fault[] = [...answersLost, startLost];
