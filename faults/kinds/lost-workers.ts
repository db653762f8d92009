// Workers that die repeatedly with many nodes in flight. A node that kills its worker must be given up, and no other
// node (docs/adr/0030-deaths-of-workers.md).
import { drawing, link } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { ClientRun } from '../client.js';
import type { Fault } from '../fault.js';
import { killParts } from '../parts.js';
import { heldRequest, inRow, startPart, toShape, type Outside, type Shape } from '../shapes.js';
import type { Stage } from '../stage.js';
import { describeKill } from './deaths.js';

const NODES = 60;
/** A run has at most 32 nodes in flight. */
const NODES_OF_RUN = 30;
const DEATHS = 5;
/** Of the nodes whose worker has died twice, a worker runs at most this many at once. */
const TOGETHER = 4;
const MOST_DEATHS = 14;
const AGAIN_WITHIN = { timeoutMs: 90_000, intervalMs: 100 };

function side(outside: Outside, name: string, nodes: number, gate: string): Shape {
  const start = startPart();
  const parts = Array.from({ length: nodes }, (_, index) => heldRequest(outside, `held-${index}`, gate));
  link(
    start.node,
    parts.map(({ node }) => node),
  );
  return toShape(name, drawing([start, ...parts].map(({ node }) => node)), [start, ...parts]);
}

/** Starts runs that have `nodes` nodes in flight together. */
async function startHeld(stage: Stage, nodes: number, gate: string): Promise<ClientRun[]> {
  const runs: ClientRun[] = [];
  for (let left = nodes; left > 0; left -= NODES_OF_RUN) {
    const shape = side(stage.world.outside, `held ${runs.length}`, Math.min(left, NODES_OF_RUN), gate);
    runs.push(await stage.start(shape));
  }
  return runs;
}

function keysOf(runs: ClientRun[]): string[] {
  return runs.flatMap(({ evidence }) => evidence.expected.flatMap(({ calls }) => calls.map(({ key }) => key)));
}

function countCalls(stage: Stage, keys: string[]): number {
  const calls = stage.world.countCalls();
  return keys.reduce((sum, key) => sum + (calls[key] ?? 0), 0);
}

async function release(stage: Stage, gate: string): Promise<void> {
  await fetch(`${stage.world.outside.targetUrl}/release/${gate}`);
}

const kill = (stage: Stage): Promise<void> =>
  stage.hit(describeKill('worker'), () => killParts(stage.world, ['worker']));

const fiveDeaths: Fault = {
  name: 'five-deaths',
  title: `five kills of the worker with ${NODES} nodes in flight: none is given up`,
  async apply(stage) {
    const gate = `five-${Date.now().toString(36)}`;
    const keys = keysOf(await startHeld(stage, NODES, gate));
    for (let deaths = 0, calls = 0; deaths < DEATHS; deaths += 1) {
      const begun = calls + (deaths < 2 ? NODES : TOGETHER);
      await eventually(() => countCalls(stage, keys) >= begun, AGAIN_WITHIN);
      calls = countCalls(stage, keys);
      await kill(stage);
    }
    await release(stage, gate);
  },
};

const deadlyNode: Fault = {
  name: 'deadly-node',
  title: `a node that kills its worker, ${NODES - 1} others beside it: it is given up alone`,
  async apply(stage) {
    const { world } = stage;
    const gate = `deadly-${Date.now().toString(36)}`;
    const never = `never-${gate}`;
    const others = keysOf(await startHeld(stage, NODES - 1, gate));
    const deadly = await stage.start(inRow('deadly', [heldRequest(world.outside, 'deadly', never)]), 'Error');
    const { id, calls } = deadly.evidence.expected.at(-1)!;
    let hasEnded = false;
    void deadly.ended.finally(() => (hasEnded = true)).catch(() => undefined);
    for (let deaths = 0; ; deaths += 1) {
      const isCalled = (): boolean => countCalls(stage, [calls[0]!.key]) > deaths;
      await eventually(() => hasEnded || isCalled(), AGAIN_WITHIN);
      if (hasEnded) break;
      if (deaths === MOST_DEATHS) return stage.complain(`the node lives after ${deaths} deaths of its worker`);
      if (deaths < 2) await eventually(() => countCalls(stage, others) >= (deaths + 1) * (NODES - 1), AGAIN_WITHIN);
      await kill(stage);
      if (deaths === 1) await release(stage, gate);
    }
    const code = deadly.evidence.firstTerminal?.nodes[id]?.error?.code;
    if (code !== 'worker_lost') stage.complain(`the node ended with ${code ?? 'no error'}`);
  },
};

export const lostWorkers: Fault[] = [fiveDeaths, deadlyNode];
