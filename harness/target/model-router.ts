// The model provider of the stack that several test processes share. Each of them has a fake provider of its own with the
// scripts of its tests: a call goes to the process that has scripted its model.
import { once } from 'node:events';
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { startHttpServer } from '../../cli/sandbox/http-server.js';

export interface ModelRouter {
  /** Ends in `/v1`. */
  url: string;
  close: () => Promise<void>;
}

/** A provider that has no script for the model records the call, and says by this status that it has not answered it. */
export const NOT_SCRIPTED = 421;
/** Asks for that status. */
export const ONLY_SCRIPTED = 'x-only-scripted';
/** Where a process tells the URL of its provider. */
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
    // The last one answers in any case: what nobody has scripted is echoed.
    for (const [index, provider] of asked.entries()) {
      const onlyScripted = index < asked.length - 1;
      if (await isAnswered(provider, { request, response, body, onlyScripted })) return;
    }
    response.writeHead(503).end();
  });
  return { url: `${server.url}/v1`, close: () => server.close() };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
  /** A provider without a script for the model is not to answer. */
  onlyScripted: boolean;
}

/** Hands the call on, with whatever happens to it: an answer, a cut connection, a caller that hangs up. */
async function isAnswered(provider: string, { request, response, body, onlyScripted }: Call): Promise<boolean> {
  const upstream = sendRequest(new URL(request.url!, provider), {
    method: request.method!,
    headers: { ...request.headers, ...(onlyScripted && { [ONLY_SCRIPTED]: '1' }) },
  });
  // A connection that is cut amid an answer is an error of the answer, too.
  upstream.on('error', () => undefined);
  const hangUp = (): void => void upstream.destroy();
  response.once('close', hangUp);
  try {
    upstream.end(body);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    if (answer.statusCode === NOT_SCRIPTED) {
      answer.resume();
      return false;
    }
    response.writeHead(answer.statusCode!, answer.headers);
    await pipeline(answer, response);
  } catch {
    request.socket.resetAndDestroy();
  } finally {
    response.off('close', hangUp);
  }
  return true;
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
