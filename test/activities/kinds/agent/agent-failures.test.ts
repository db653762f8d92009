// Steps of an agent that make several calls at once, of which some fail.
import assert from 'node:assert/strict';
import { mostFinal } from '../../../../activities/kinds/agent/agent-tools.js';
import { loadTools, type LoadToolsDeps } from '../../../../activities/kinds/agent/load-tools.js';
import { handedBack, NodeFailure } from '../../../../activities/node/failures.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import { ConnectionNeeded } from '../../../../activities/node/wait-for-connection.js';
import { agentNode } from '../../../../graph/nodes/agent.js';
import type { VariableValues } from '../../../../graph/template.js';
import { ByteBudget } from '../../../../memory/byte-budget.js';
import type { McpServer } from '../../../../outgoing/mcp-types.js';
import { playedDatabase } from '../../../support/played-database.js';

describe('the tool calls of a turn that have failed', () => {
  const signIn = new ConnectionNeeded(1);
  const retryable = new NodeFailure('timeout', 'Late.', { isRetryable: true });
  const final = new NodeFailure('outcome_unknown', 'Lost.');

  it('fail the node for good at once, whichever call failed first', () => {
    for (const failures of [
      [signIn, final],
      [final, signIn],
      [retryable, handedBack(), final],
    ])
      assert.equal(mostFinal(failures), final);
  });

  it('otherwise wait for the sign-in before they are made again', () => {
    assert.equal(mostFinal([retryable, signIn]), signIn);
    assert.equal(mostFinal([retryable]), retryable);
  });
});

describe('listing the tools of several servers', () => {
  it('ends with the first failure, after it has stopped the other listings', async () => {
    const ended: string[] = [];
    const use = async (_run: string, { endpointUrl }: McpServer, signal: AbortSignal) => {
      if (endpointUrl.includes('broken')) throw new NodeFailure('mcp_protocol', 'It said nonsense.');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      ended.push(endpointUrl);
      throw signal.reason;
    };
    const hide = { json: <T>(value: T): T => value };
    const connections = { call: (_task: unknown, _id: unknown, call: (using: object) => unknown) => call({ hide }) };
    const deps = { db: playedDatabase(() => ({ rows: [] })), sessions: { use }, connections };
    const tools = ['slow', 'broken'].map((name) => ({
      type: 'mcp',
      server_label: name,
      endpoint_url: `https://${name}.test/mcp`,
    }));
    const data = agentNode.schema.parse({
      messages: [{ role: 'user', message: 'Hello' }],
      settings: { model_name: 'm' },
      tools,
    });
    const memory = new ByteBudget({ totalBytes: 1e6, uncountedBytes: 0 }).lease('project:1');
    const own = new AbortController();
    const task = { runId: 'r', path: '', nodeId: 'a', run: {}, memory, signal: own.signal } as unknown as NodeTask;
    const values: VariableValues = { input: {}, results: new Map() };
    const listing = loadTools(deps as unknown as LoadToolsDeps, task, data, values);
    await assert.rejects(listing, { code: 'mcp_protocol' });
    assert.deepEqual(ended, ['https://slow.test/mcp']);
    assert.equal(own.signal.aborted, false);
  });
});
