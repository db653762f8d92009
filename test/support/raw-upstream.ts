// A model provider whose answers are scripted byte by byte. It records its requests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startHttpServer } from '../../cli/sandbox/http-server.js';

interface RawRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** True if the caller closed the connection before the answer was complete. */
  aborted: boolean;
}

export type RawScript = (request: RawRequest, response: ServerResponse) => Promise<void> | void;

export interface RawUpstream {
  /**
   * A MODEL_PROVIDERS_FILE that lists this provider for the given models, and an unreachable one for the model `down`.
   */
  providersFile: string;
  platformKey: string;
  /** Sets the script that answers the requests for a model. */
  on: (model: string, script: RawScript) => void;
  /** The requests for a model, oldest first. */
  requestsFor: (model: string) => RawRequest[];
  close: () => Promise<void>;
}

export const PLATFORM_KEY = 'sk-platform-0123456789';

export async function startRawUpstream(models: string[]): Promise<RawUpstream> {
  const scripts = new Map<string, RawScript>();
  const requests: { model: string; request: RawRequest }[] = [];
  const server = await startHttpServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { model } = JSON.parse(new TextDecoder().decode(body)) as { model: string };
    const request: RawRequest = { url: incoming.url ?? '', headers: incoming.headers, body, aborted: false };
    response.once('close', () => (request.aborted = !response.writableFinished));
    requests.push({ model, request });
    const script = scripts.get(model);
    if (script === undefined) response.writeHead(500).end();
    else await script(request, response);
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'raw-upstream-'));
  const providersFile = path.join(folder, 'providers.json');
  const listed = models.map((id) => ({ id, input_price_per_million: '1', output_price_per_million: '2' }));
  const raw = { name: 'raw', base_url: `${server.url}/v1`, api_key_env: 'RAW_PROVIDER_KEY', models: listed };
  const down = { name: 'down', base_url: 'http://127.0.0.1:1/v1', models: [{ id: 'down' }] };
  writeFileSync(providersFile, JSON.stringify({ providers: [raw, down] }));
  return {
    providersFile,
    platformKey: PLATFORM_KEY,
    on: (model, script) => void scripts.set(model, script),
    requestsFor: (model) => requests.filter((entry) => entry.model === model).map(({ request }) => request),
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
