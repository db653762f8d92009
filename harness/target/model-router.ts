// The model provider of a stack that several test processes share. Each process has its own fake provider with the
// scripts of its tests. The router forwards a call to the process that has a script for the model.
import { once } from 'node:events';
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { startHttpServer } from '../../cli/sandbox/http-server.js';

export interface ModelRouter {
  /** Ends in `/v1`. */
  url: string;
  close: () => Promise<void>;
}

/** The status by which a provider declines a call for a model without a script. The call is recorded anyway. */
export const NOT_SCRIPTED = 421;
/** The header that requests this status. */
export const ONLY_SCRIPTED = 'x-only-scripted';
/** The path to which a test process sends its provider's URL. */
export const PROVIDERS_PATH = '/providers';

export async function startModelRouter(): Promise<ModelRouter> {
  const providers = new Set<string>();
  const server = await startHttpServer(async (request, response) => {
    const body = await read(request);
    if (request.url === PROVIDERS_PATH) {
      if (request.method === 'DELETE') providers.delete(body.toString());
      else providers.add(body.toString());
      response.writeHead(204).end();
      return;
    }
    const asked = [...providers];
    let unscripted: string | undefined;
    // The last one answers even without a script, so that the call gets the default answer.
    for (const [index, provider] of asked.entries()) {
      const onlyScripted = index < asked.length - 1;
      const outcome = await forward(provider, { request, response, body, onlyScripted });
      if (outcome === 'answered') return;
      if (outcome === 'gone') providers.delete(provider);
      else unscripted = provider;
    }
    // The last one was gone, so one of those that had no script gives the default answer.
    if (unscripted !== undefined) {
      const outcome = await forward(unscripted, { request, response, body, onlyScripted: false });
      if (outcome === 'answered') return;
    }
    response.writeHead(503).end();
  });
  return { url: `${server.url}/v1`, close: () => server.close() };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
  /** True if a provider without a script for the model must not answer. */
  onlyScripted: boolean;
}

/** `gone`: the process of the provider died before it could remove its URL, so the connection was refused. */
type Outcome = 'answered' | 'not scripted' | 'gone';

/** Forwards the call. Passes on the answer, a cut connection, and a disconnect of the caller. */
async function forward(provider: string, { request, response, body, onlyScripted }: Call): Promise<Outcome> {
  const upstream = sendRequest(new URL(request.url!, provider), {
    method: request.method!,
    headers: { ...request.headers, ...(onlyScripted && { [ONLY_SCRIPTED]: '1' }) },
  });
  // If the connection is cut during an answer, the answer emits an error too.
  upstream.on('error', () => undefined);
  const hangUp = (): void => void upstream.destroy();
  response.once('close', hangUp);
  try {
    upstream.end(body);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    if (answer.statusCode === NOT_SCRIPTED) {
      answer.resume();
      return 'not scripted';
    }
    response.writeHead(answer.statusCode!, answer.headers);
    await pipeline(answer, response);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'gone';
    request.socket.resetAndDestroy();
  } finally {
    response.off('close', hangUp);
  }
  return 'answered';
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
