// The one HTTP client of all subjects: kept connections, JSON, and when the first byte came.
import { Agent, request } from 'undici';

interface JsonAnswer<T> {
  body: T;
  firstByteMs: number;
  totalMs: number;
}

export interface JsonClient {
  /** Throws for any status but 200 and 201. */
  send<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<JsonAnswer<T>>;
  close(): Promise<void>;
}

export function createJsonClient(baseUrl: string, headers: Record<string, string> = {}): JsonClient {
  // More than runs and probes at once, so that no request waits here for a connection.
  const dispatcher = new Agent({ connections: 128, headersTimeout: 60_000, bodyTimeout: 60_000 });
  return {
    async send<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<JsonAnswer<T>> {
      const startedAt = performance.now();
      const answer = await request(`${baseUrl}${path}`, {
        method,
        dispatcher,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const firstByteMs = performance.now() - startedAt;
      const text = await answer.body.text();
      if (answer.statusCode !== 200 && answer.statusCode !== 201) {
        throw new Error(`${method} ${path} was answered with ${answer.statusCode}: ${text.slice(0, 500)}`);
      }
      return { body: JSON.parse(text) as T, firstByteMs, totalMs: performance.now() - startedAt };
    },
    close: () => dispatcher.close(),
  };
}
