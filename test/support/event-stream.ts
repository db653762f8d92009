// A reader of the events of runs.
import type { NodeEntry } from '../../harness/client/api-client.js';

export interface StreamedEvent {
  event: string;
  id: number;
  data: NodeEntry & { path?: string; version?: number; output?: unknown; request_id?: string; tool_name?: string };
  receivedAtMs: number;
}

/** Whether the stream has reported that this node is in progress. */
export const saysInProgress = ({ events }: OpenStream, nodeId: string): boolean =>
  events.some(({ data }) => data.id === nodeId && data.status === 'in progress');

export interface OpenStream {
  response: Response;
  /** The events received so far. */
  events: StreamedEvent[];
  comments: () => number;
  /** Why the stream could not be read: a broken connection, or an empty line without an event. */
  failure: () => unknown;
  /** Resolves when the stream has ended, even by an error. */
  ended: Promise<void>;
  close: () => void;
}

export interface StreamOptions {
  lastEventId?: number | string;
  headers?: Record<string, string>;
  /** Also requests the text that models write. */
  withDeltas?: boolean;
}

/** Opens the stream of a run with an API key. If the answer is no stream, its body is left unread. */
export async function openEventStream(
  apiUrl: string,
  apiKey: string,
  runId: string,
  { lastEventId, headers, withDeltas }: StreamOptions = {},
): Promise<OpenStream> {
  const controller = new AbortController();
  const response = await fetch(
    `${apiUrl}/api/v1/workflows/workflow_result/events/?id=${runId}${withDeltas === true ? '&include=deltas' : ''}`,
    {
      headers: {
        'x-api-key': apiKey,
        ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
        ...headers,
      },
      signal: controller.signal,
    },
  );
  const events: StreamedEvent[] = [];
  let comments = 0;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const read = async (): Promise<void> => {
    let lines: string[] = [];
    for await (const line of linesOf(response)) {
      if (line.startsWith(':')) comments += 1;
      else if (line !== '') lines.push(line);
      else {
        events.push(toEvent(lines));
        lines = [];
      }
    }
  };
  let failure: unknown;
  const ended = isStream ? read().catch((error: unknown) => void (failure = error)) : Promise.resolve();
  return {
    response,
    events,
    comments: () => comments,
    failure: () => failure,
    ended,
    close: () => controller.abort(),
  };
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body!) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Throws for an empty line that ends no event, for example after a comment: some clients would report an event. */
function toEvent(lines: string[]): StreamedEvent {
  const fields = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  if (fields['event'] === undefined) throw new Error(`no event: ${JSON.stringify(lines)}`);
  const data = JSON.parse(fields['data']!) as StreamedEvent['data'];
  return { event: fields['event'], id: Number(fields['id']), data, receivedAtMs: Date.now() };
}
