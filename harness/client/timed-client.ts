// A client for measurements. It uses keep-alive connections, and measures the times and sizes of answers.
import { Agent, request } from 'undici';

interface TimedAnswer<T> {
  body: T;
  /** The time from the request until its answer is parsed. */
  totalMs: number;
}

interface Head {
  /** The first characters of the answer. */
  head: string;
  sizeBytes: number;
}

/** `send` and `readHead` throw an error for any status other than 2xx. */
export interface TimedClient {
  send<T>(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TimedAnswer<T>>;
  /** Reads the answer without parsing it, which would cost the client more than the service. */
  readHead(path: string): Promise<Head>;
  close(): Promise<void>;
}

export interface TimedClientOptions {
  headers?: Record<string, string>;
  /**
   * The number of connections. The default exceeds the runs and probes that a benchmark has at once, so none of its
   * requests waits for a connection.
   */
  connections?: number;
  /** 0 means no timeout. */
  timeoutMs?: number;
}

const HEAD_LENGTH = 200;

export function createTimedClient(baseUrl: string, options: TimedClientOptions = {}): TimedClient {
  const { headers = {}, connections = 128, timeoutMs = 60_000 } = options;
  const dispatcher = new Agent({ connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  return {
    async send<T>(
      method: 'GET' | 'POST' | 'PATCH',
      path: string,
      body?: unknown,
      more: Record<string, string> = {},
    ): Promise<TimedAnswer<T>> {
      const startedAt = performance.now();
      const answer = await request(`${baseUrl}${path}`, {
        method,
        dispatcher,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await answer.body.text();
      if (answer.statusCode > 299) throw new Error(refusal(method, path, answer.statusCode, text));
      return { body: JSON.parse(text) as T, totalMs: performance.now() - startedAt };
    },
    async readHead(path) {
      const answer = await request(`${baseUrl}${path}`, { dispatcher, headers });
      let head = '';
      let sizeBytes = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        if (head.length < HEAD_LENGTH) head += chunk.toString('latin1');
        sizeBytes += chunk.length;
      }
      if (answer.statusCode > 299) throw new Error(refusal('GET', path, answer.statusCode, head));
      return { head, sizeBytes };
    },
    close: () => dispatcher.destroy(),
  };
}

function refusal(method: string, path: string, status: number, text: string): string {
  return `${method} ${path} was answered with ${status}: ${text.slice(0, 500)}`;
}
