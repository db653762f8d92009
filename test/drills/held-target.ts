// An HTTP target that keeps callers waiting until the test lets their path go on; it outlives every stack.
import { startHttpServer } from '../../cli/sandbox/http-server.js';

export interface HeldTarget {
  url: string;
  /** How often the path was called, with these bodies. */
  bodiesOf: (path: string) => string[];
  /** From now on the path answers at once, those that wait included. */
  release: (path: string) => void;
  close: () => Promise<void>;
}

/** Answers `answer to <path>`. Paths that start with `/held/` wait. */
export async function startHeldTarget(): Promise<HeldTarget> {
  const bodies = new Map<string, string[]>();
  const gates = new Map<string, PromiseWithResolvers>();
  const gateOf = (path: string): PromiseWithResolvers => {
    const gate = gates.get(path) ?? withResolvers();
    gates.set(path, gate);
    return gate;
  };
  const server = await startHttpServer(async (request, response) => {
    const path = request.url!;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    bodies.set(path, [...(bodies.get(path) ?? []), Buffer.concat(chunks).toString('utf8')]);
    if (path.startsWith('/held/')) await gateOf(path).promise;
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`answer to ${path}`);
  });
  return {
    url: server.url,
    bodiesOf: (path) => bodies.get(path) ?? [],
    release: (path) => gateOf(path).resolve(),
    close: () => server.close(),
  };
}

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve: () => void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}
