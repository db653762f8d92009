// Faults in which a process crashes before it has recorded a result or started an accepted run.
import { eventually } from '../../harness/timing/eventually.js';
import type { Ending } from '../evidence.js';
import type { Fault } from '../fault.js';
import { loseRecord } from '../lost-record.js';
import { killParts } from '../parts.js';
import { held, inRow, request } from '../shapes.js';

interface Unrecorded {
  name: 'llm' | 'get' | 'post' | 'mcp';
  title: string;
  ending: Ending;
  /** The expected total number of calls. */
  calls: number;
}

const unrecorded: Unrecorded[] = [
  { name: 'llm', title: 'LLM node', ending: 'succeed', calls: 2 },
  { name: 'get', title: 'GET', ending: 'succeed', calls: 2 },
  { name: 'post', title: 'POST', ending: 'outcome unknown', calls: 1 },
  { name: 'mcp', title: 'MCP tool', ending: 'outcome unknown', calls: 1 },
];

const answersLost: Fault[] = unrecorded.map(({ name, title, ending, calls }) => ({
  name: `unrecorded-${name}`,
  title: `worker dies between the answer and its record: ${title}`,
  async apply(stage) {
    const { world } = stage;
    const run = await stage.start(inRow(`unrecorded ${name}`, [held(world.outside, name)]), ending);
    const node = run.evidence.expected.at(-1)!;
    const { key } = node.calls[0]!;
    const runId = await run.accepted;
    await eventually(() => world.countCalls()[key] === 1, { timeoutMs: 30_000 });
    await loseRecord(stage, { runId, nodeId: node.id }, () => world.release(node.label));
    await run.ended;
    const made = world.countCalls()[key];
    if (made !== calls) stage.complain(`the ${title} was called ${made} times, not ${calls}`);
  },
}));

/**
 * Freezes Temporal so that the start of an accepted run hangs, and then kills the API and Temporal. Without the kill,
 * Temporal would execute the request in its socket when it continues.
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
