// Ends the waits of a sample's run through the public API: answers tasks, calls back, and decides on tool calls.
import type { Answer, Sample } from '../samples/samples.js';
import type { DemoApi, NodeState, RunState } from './demo-api.js';

/** Called with each poll of a run. Returns sentences about what the demo has done. */
export type Attend = (state: RunState) => Promise<string[]>;

export function createAttendant(api: DemoApi, { answers, data }: Sample): Attend {
  /** The ids of answered tasks and requests, and the addresses of callbacks that were called. */
  const done = new Set<string>();
  const labels = new Map(data.nodes.map(({ id, data: { label } }) => [id, label]));

  function answerOf(id: string): Answer {
    const found = answers?.[id];
    if (found === undefined) throw new Error(`the sample does not say how to answer "${labels.get(id) ?? id}"`);
    return found;
  }

  async function attendNode(run: string, id: string, node: NodeState): Promise<string[]> {
    const { waiting, approval_requests: requests = [] } = node;
    const label = `"${labels.get(id) ?? id}"`;
    const sentences: string[] = [];
    if (waiting?.task_id !== undefined && isNew(waiting.task_id)) {
      const { action = 'done', values = {}, comment = '' } = answerOf(id);
      await api.answerTask(waiting.task_id, { action, values, comment });
      sentences.push(`${label} waited for a person. The demo has answered "${action}" with ${JSON.stringify(values)}.`);
    }
    if (waiting?.callback_url !== undefined && isNew(waiting.callback_url)) {
      const { body } = answerOf(id);
      await api.callBack(waiting.callback_url, body);
      sentences.push(`${label} waited for a callback. The demo has called back with ${JSON.stringify(body)}.`);
    }
    for (const { request_id: request, status, tool_name: tool, arguments: input } of requests) {
      if (status !== 'pending' || !isNew(request)) continue;
      const { decision = 'approve', reason = '' } = answerOf(id);
      await api.decide(run, request, decision, reason);
      const decided = decision === 'approve' ? 'approved' : 'rejected';
      sentences.push(`${label} asked to call ${tool} with ${JSON.stringify(input)}. The demo has ${decided} it.`);
    }
    return sentences;
  }

  function isNew(what: string): boolean {
    if (done.has(what)) return false;
    done.add(what);
    return true;
  }

  return async ({ id: run, data: nodes }) => {
    const sentences: string[] = [];
    for (const [id, node] of Object.entries(nodes ?? {})) sentences.push(...(await attendNode(run, id, node)));
    return sentences;
  };
}
