// When a tool call of an agent is in the ledger as sent.
import assert from 'node:assert/strict';
import type { AgentDeps } from '../../../../activities/kinds/agent/agent-step.js';
import { callTool } from '../../../../activities/kinds/agent/call-tool.js';
import type { Answer, ToolWork } from '../../../../activities/kinds/agent/tool-work.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import type { Database } from '../../../../db/core/client.js';
import { createMasker } from '../../../../graph/mask.js';
import { agentNode } from '../../../../graph/nodes/agent.js';
import { ByteBudget } from '../../../../memory/byte-budget.js';
import { McpError } from '../../../../outgoing/mcp-client.js';
import { connect, openRun } from '../../../db/open-run.js';

const NO_DATABASE = 'the database is away';

describe('a tool call of an agent', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  /** A call whose connection is opened by `open`, and that `answer` answers. */
  async function drawCall(kind: 'mcp' | 'action', open: (send: () => unknown) => unknown, answer: () => unknown) {
    const run = await openRun(db, ['agent']);
    const action = { method: 'POST', server: 'https://shop.test', path: '/orders', fields: {}, has_side_effects: true };
    const tool = {
      mcp: { type: 'mcp', server_label: 'files', endpoint_url: 'https://files.test/mcp' },
      action: { type: 'action', service: 'shop', id: 'order', action: { ...action, title: 'order' } },
    }[kind];
    const settings = { model_name: 'm' };
    const drawn = { messages: [{ role: 'user', message: 'Hello' }], settings, tools: [tool] };
    const data = agentNode.schema.parse(drawn);
    const hide = createMasker([]);
    const credential = { authorize: (request: object) => request };
    const given = { credential, hide, masker: hide };
    const deps = {
      db,
      secretBox: { open: () => '{}' },
      files: { maxBytes: 1e6 },
      connections: {
        call: (_task: unknown, _id: unknown, send: (using: object) => unknown) => open(() => send(given)),
      },
      sessions: {
        use: (_run: string, _server: object, _signal: object, act: (session: object) => unknown) =>
          act({ callTool: answer }),
      },
      client: { send: answer },
    };
    const memory = new ByteBudget({ totalBytes: 1e6, uncountedBytes: 0 }).lease('project:1');
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    const node = { data: drawn };
    const signal = new AbortController().signal;
    const task = { ...key, node, run: { masker: hide, projectId: run.projectId }, memory, signal };
    const serverLabel = kind === 'mcp' ? 'files' : 'service:shop';
    const call = { ordinal: 0, toolName: 'order', serverLabel, editedEnc: null, requestId: null, argumentsEnc: '' };
    const work = {
      data,
      values: { input: {}, results: new Map() },
      workflows: new Map(),
      actions: new Map([['order', 0]]),
      turn: 0,
      call,
    };
    return {
      make: () =>
        callTool(
          deps as unknown as AgentDeps,
          task as unknown as NodeTask,
          work as unknown as ToolWork,
        ) as Promise<Answer>,
      ledger: () =>
        db.selectFrom('provider_calls').select(['state', 'attempts']).where('run_id', '=', run.id).execute(),
    };
  }

  const ANSWERS = {
    mcp: { content: 'done', isError: false, parts: [{ type: 'text', text: 'done' }] },
    action: { status: 200, headers: {}, setCookie: [], body: Buffer.from('done') },
  };
  const REFUSALS = {
    mcp: () => Promise.reject(new McpError('mcp_unauthorized', 'No.', true, { isUnauthorized: true })),
    action: () => Promise.resolve({ ...ANSWERS.action, status: 401 }),
  };

  for (const kind of ['mcp', 'action'] as const) {
    it(`(${kind}) that failed before it was sent, for a reason of our own, is made by the next attempt`, async () => {
      let opened = 0;
      const open = async (send: () => unknown) => {
        if (opened++ === 0) throw new Error(NO_DATABASE);
        return send();
      };
      const { make, ledger } = await drawCall(kind, open, () => Promise.resolve(ANSWERS[kind]));
      await assert.rejects(make(), { message: NO_DATABASE });
      assert.deepEqual(await ledger(), [], 'a worker that stops now leaves no call behind');
      const { text, attempt } = await make();
      assert.deepEqual({ text, attempt }, { text: 'done', attempt: 1 });
      assert.deepEqual(await ledger(), [{ state: 'sent', attempts: 1 }]);
    });
  }

  for (const kind of ['mcp', 'action'] as const) {
    it(`(${kind}) that the server refused (401) is made by the next attempt, after a failure to renew the credential`, async () => {
      let opened = 0;
      const open = async (send: () => unknown) => {
        if (opened++ > 0) return send();
        await Promise.resolve(send()).catch(() => undefined);
        throw new Error(NO_DATABASE);
      };
      const answers = [REFUSALS[kind], () => Promise.resolve(ANSWERS[kind])];
      const { make, ledger } = await drawCall(kind, open, () => answers.shift()!());
      await assert.rejects(make(), { message: NO_DATABASE });
      assert.deepEqual(await ledger(), [{ state: 'refused', attempts: 0 }]);
      assert.equal((await make()).text, 'done');
    });
  }

  it('that was sent, and whose outcome was not recorded, is not made again: outcome_unknown', async () => {
    let sent = 0;
    const { make } = await drawCall(
      'mcp',
      (send) => send(),
      () => {
        sent++;
        return Promise.reject(new Error(NO_DATABASE));
      },
    );
    await assert.rejects(make(), { message: NO_DATABASE });
    await assert.rejects(make(), {
      code: 'outcome_unknown',
      message:
        'An earlier attempt sent the call of order and did not record its outcome; whether it was carried out is unknown.',
    });
    assert.equal(sent, 1);
  });
});
