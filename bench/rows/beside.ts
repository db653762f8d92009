// Compares the service with a peer, which is any program that answers a POST when its work is done. Both make the same
// calls to the same target, and their clients wait for the end.
import { graphs, type Graph } from '../graphs.js';
import type { BesideRow } from '../graph-rows.js';
import { PLAIN_INPUT } from '../load.js';
import type { Throughput } from '../results.js';
import { createPeer } from '../subjects.js';
import { callsOf, forgetCalls } from '../../harness/target/recorded-calls.js';
import type { RowContext } from './row-context.js';
import { measureThroughput } from './throughput.js';

export async function measureBeside(
  context: RowContext,
  row: BesideRow,
  url: string,
  lanes: readonly number[],
): Promise<Throughput[]> {
  const { testbed } = context;
  const peer = createPeer(url);
  try {
    await forgetCalls(testbed.targetUrl);
    await peer.runToEnd(graphs[row], PLAIN_INPUT);
    const call = oneCallOf(
      (await callsOf(testbed.targetUrl)).map(([, , , made]) => made),
      graphs[row],
      url,
    );
    // The graph needs its own name, because the service creates one workflow for each name.
    const graph: Graph = { ...graphs[row], name: `${row}: ${call}`, call };
    const loads = lanes.map((number) => ({ lanes: number, pollMode: 'waits' as const }));
    return await measureThroughput(context, { row, graph, subjects: [...testbed.services, peer], loads });
  } finally {
    await peer.close();
  }
}

/**
 * Returns the call that the peer has made, so that the service makes the same one. Throws if the peer made different
 * calls, or not as many as the row has.
 */
function oneCallOf(made: readonly string[], { name, calls }: Graph, url: string): string {
  const [call, ...others] = new Set(made);
  if (call === undefined || made.length !== calls || others.length > 0) {
    const seen = made.length === 0 ? 'none' : `${made.length}: ${[...new Set(made)].join(', ')}`;
    throw new Error(`${url} must make ${calls} equal calls to the target (--target-port) for ${name}; seen: ${seen}`);
  }
  return call;
}
