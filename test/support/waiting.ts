import type { ApiClient, NodeEntry } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';

/** Waits until the poll shows that the node waits, and returns its entry. */
export function untilWaiting(api: ApiClient, runId: string, nodeId: string): Promise<NodeEntry> {
  return eventually(
    async () => {
      const entry = (await api.poll(runId)).data.data?.[nodeId];
      return entry?.waiting !== undefined && entry;
    },
    { timeoutMs: 40_000 },
  );
}

/** Waits for the address of the node's callback. */
export async function callbackUrlOf(api: ApiClient, runId: string, nodeId: string): Promise<string> {
  const { waiting } = await untilWaiting(api, runId, nodeId);
  if (waiting?.callback_url === undefined) throw new Error(`no address: ${JSON.stringify(waiting)}`);
  return waiting.callback_url;
}

export interface CallbackAnswer {
  status: number;
  accepted: boolean | undefined;
}

/** Calls the address back with a text, as a service does that knows only the address. */
export async function callBack(url: string, body = '', contentType = 'text/plain'): Promise<CallbackAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': contentType } });
  const answer = (await response.json()) as { accepted?: boolean };
  return { status: response.status, accepted: answer.accepted };
}

/** Waits for the human task of the node, and returns its id. */
export async function taskOf(api: ApiClient, runId: string, nodeId: string): Promise<string> {
  const { waiting } = await untilWaiting(api, runId, nodeId);
  if (waiting?.task_id === undefined) throw new Error(`no task: ${JSON.stringify(waiting)}`);
  return waiting.task_id;
}
