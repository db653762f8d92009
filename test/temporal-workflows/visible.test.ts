import assert from 'node:assert/strict';
import { CALLS_AT_ONCE } from '../../activities/kinds/agent/agent-tools.js';
import { MAX_TOOL_CALLS } from '../../db/agents/tool-call-number.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import {
  agent,
  condition,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  mcp,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { activitiesOf, withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';

interface ScheduledActivity {
  type: string;
  id: string;
  summary: string;
}

/** The longest time-out that a drawing may set for one model or tool call (graph/nodes/). */
const LONGEST_CALL_SECONDS = 600;

/** The fields of a run's activities that `temporal workflow show` and the UI display, in order. */
function scheduledActivities(stack: TestStack, runId: string): Promise<ScheduledActivity[]> {
  return withTemporal(stack, async (client) => {
    const { events } = await client.workflow.getHandle(runId).fetchHistory();
    return (events ?? []).flatMap((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (!scheduled) return [];
      const data = event.userMetadata?.summary?.data;
      const summary = data ? (JSON.parse(Buffer.from(data).toString()) as string) : '';
      return { type: scheduled.activityType!.name!, id: scheduled.activityId!, summary };
    });
  });
}

describe('visible execution', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    [stack, target, tools] = await Promise.all([sharedStack(), startHttpTarget(), startToolServer()]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  after(async () => {
    await target.close();
    await tools.close();
  });

  const labelled = (node: DrawingNode, label: string): DrawingNode => {
    node.data['label'] = label;
    return node;
  };

  it('has one activity a node (and step of an agent), with its type, id and label, in the first run and the thirtieth', async () => {
    const adds = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] };
    const isAnswered = (request: unknown): boolean => JSON.stringify(request).includes('"role":"tool"');
    stack.modelProvider.script('visible-agent', (request) => (isAnswered(request.body) ? { text: 'done' } : adds));
    const server = { endpoint_url: tools.url, require_approval: 'never' };
    const prices = labelled(http(`${target.url}/prices`), 'Fetch prices');
    const stock = labelled(http(`${target.url}/stock`, { method: 'POST', body: {} }), 'Reserve stock');
    const model = labelled(llm('hello'), 'Write a reply');
    const tool = labelled(mcp(tools.url, 'add', { a: 1, b: 2 }), 'Add it up');
    const decides = labelled(agent('work', { model_name: 'visible-agent' }, [server]), 'Decide');
    const check = labelled(condition('1', '==', '1'), 'Is it well?');
    const nodes = linkInRow([trigger(), prices, stock, model, tool, check, decides]);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(nodes));
    const expected = [
      { type: 'httpRequest', id: prices.id, summary: 'Fetch prices' },
      { type: 'httpRequest', id: stock.id, summary: 'Reserve stock' },
      { type: 'llmRequest', id: model.id, summary: 'Write a reply' },
      { type: 'mcpTool', id: tool.id, summary: 'Add it up' },
      { type: 'agentTurn', id: `${decides.id}~0`, summary: 'Decide: turn 1' },
      { type: 'agentTools', id: `${decides.id}~0/tools`, summary: 'Decide: tools of turn 1' },
      { type: 'agentTurn', id: `${decides.id}~1`, summary: 'Decide: turn 2' },
    ];
    const runOnce = async (): Promise<string> => {
      const runId = (await api.run(workflowId)).data.id;
      const end = (await api.pollToEnd(runId, { timeoutMs: 30_000 })).data;
      assert.equal(end.status, 'succeed', JSON.stringify(end.data));
      return runId;
    };
    assert.deepEqual(await scheduledActivities(stack, await runOnce()), expected);
    await Promise.all(Array.from({ length: 28 }, runOnce));
    assert.deepEqual(await scheduledActivities(stack, await runOnce()), expected);
  });

  it('gives each activity more time than the longest work that its kind may do', async () => {
    const adds = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] };
    const isAnswered = (request: unknown): boolean => JSON.stringify(request).includes('"role":"tool"');
    stack.modelProvider.script('long-agent', (request) => (isAnswered(request.body) ? { text: 'done' } : adds));
    const server = { endpoint_url: tools.url, require_approval: 'never' };
    const nodes = [
      llm('hello'),
      mcp(tools.url, 'add', { a: 1, b: 2 }),
      agent('work', { model_name: 'long-agent' }, [server]),
    ];
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), ...nodes])));
    const runId = (await api.run(workflowId)).data.id;
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    const toolSeconds = Math.ceil(MAX_TOOL_CALLS / CALLS_AT_ONCE) * LONGEST_CALL_SECONDS;
    const limits = await withTemporal(stack, async (client) => {
      const { events } = await client.workflow.getHandle(runId).fetchHistory();
      return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [[scheduled.activityType!.name!, Number(scheduled.startToCloseTimeout!.seconds)] as const] : [],
      );
    });
    assert.deepEqual(
      new Set(limits.map(([type]) => type)),
      new Set(['llmRequest', 'mcpTool', 'agentTurn', 'agentTools']),
    );
    for (const [type, seconds] of limits) {
      const longest = type === 'agentTools' ? toolSeconds : LONGEST_CALL_SECONDS;
      assert.ok(seconds > longest, `${type} ends after ${seconds} s, and may take ${longest} s`);
    }
  });

  it('has one activity for each of concurrent nodes, however quick they have been', async () => {
    const calls = ['a', 'b', 'c'].map((name) => labelled(http(`${target.url}/visible-${name}`), name));
    const [start, join] = [trigger(), labelled(http(`${target.url}/visible-join`), 'join')];
    link(start, calls);
    for (const call of calls) link(call, join);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, ...calls, join]));
    for (let run = 1; run <= 12; run++) {
      const runId = (await api.run(workflowId)).data.id;
      assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
      const summaries = (await scheduledActivities(stack, runId)).map(({ summary }) => summary);
      assert.deepEqual(summaries, ['a', 'b', 'c', 'join']);
      assert.deepEqual((await activitiesOf(stack, runId)).local, []);
    }
  });

  it('is left for dense execution by a drawing that says so, and by no other word', async () => {
    const calls = ['one', 'two'].map((name) => http(`${target.url}/dense-${name}`));
    const drawn = drawing(linkInRow([trigger(), ...calls]));
    const project = await api.createProject();
    const dense = await api.createWorkflow(project, { ...drawn, settings: { execution: 'dense' } });
    const runId = (await api.run(dense)).data.id;
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest']);
    const wrong = await api.createWorkflow(project, { ...drawn, settings: { execution: 'fast' } });
    const refused = await api.run(wrong);
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused), /settings\.execution is \\"fast\\" and should be/);
  });
});
