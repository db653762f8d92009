import assert from 'node:assert/strict';
import type { AgentDeps } from '../../../../activities/kinds/agent/agent-step.js';
import { createTurnStep } from '../../../../activities/kinds/agent/agent-turn.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import { findCallsOfTurn, saveToolAnswer, saveTurn } from '../../../../db/agents/agent-repository.js';
import type { Database } from '../../../../db/core/client.js';
import { agent } from '../../../../harness/drawing/drawing.js';
import { connect, openRun, paidCall } from '../../../db/open-run.js';

const [MESSAGE, ARGUMENTS, ANSWER] = [1_000, 2_000, 30_000];

describe('the conversation of an agent', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  async function converse(turns: number) {
    const run = await openRun(db, ['agent']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    const asked = { serverLabel: 's', toolName: 't', invalidEnc: null, approval: null };
    for (let turn = 0; turn < turns; turn += 1) {
      const call = { ...asked, toolCallId: `${turn}`, argumentsEnc: Buffer.alloc(ARGUMENTS) };
      const said = { nodeLabel: 'an agent', isFinal: false, messageEnc: Buffer.alloc(MESSAGE), toolCalls: [call] };
      await saveTurn(db, { ...key, ...paidCall('0', { turn }), ...said });
      const answer = { outcome: 'result', answerEnc: Buffer.alloc(ANSWER) } as const;
      await saveToolAnswer(db, { ...key, turn, ordinal: 0 }, answer);
    }
    return key;
  }

  it('has its memory before a turn reads it', async () => {
    const key = await converse(3);
    const noRoom = new Error('There is no room.');
    let heldBytes = 500;
    const memory = {
      get bytes() {
        return heldBytes;
      },
      resize(bytes: number): Promise<void> {
        heldBytes = bytes;
        return Promise.reject(noRoom);
      },
    };
    const { data } = agent('Work', { model_name: 'none' }, []);
    const task = { ...key, node: { data }, memory } as unknown as NodeTask;
    const deps = { db, contexts: { loadValues: async () => ({}) } } as unknown as AgentDeps;
    await assert.rejects(createTurnStep(deps, { ...key, turn: 3 }).run(task), noRoom);
    assert.equal(heldBytes, 500 + 7 * 3 * (MESSAGE + ARGUMENTS + ANSWER));
  });

  it('is not read where the calls of one turn are needed', async () => {
    const key = await converse(2);
    const calls = await findCallsOfTurn(db, { ...key, turn: 1 });
    assert.deepEqual(
      calls.map(({ toolCallId }) => toolCallId),
      ['1'],
    );
    assert.equal('answerEnc' in calls[0]!, false);
  });
});
