/** Returns the code of a network error. A name whose addresses all failed has it in a nested error. */
export function causeCode(error: unknown): string {
  for (const at of causesOf(error)) {
    const { code } = at as Error & { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return 'unknown error';
}

/** Returns what a connection is made to, for the message of one that could not be made. */
export function toAddress({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** Yields the error and its chain of causes. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let at: unknown = error; at instanceof Error; at = at instanceof AggregateError ? at.errors[0] : at.cause) {
    yield at;
  }
}

const addresses = new WeakMap<Error, string>();

/** Notes where the request went that has failed. Returns the error. */
export function noteAddress(error: unknown, url: URL): unknown {
  if (error instanceof Error) addresses.set(error, toAddress(url));
  return error;
}

/** Returns the host and the port at which a request has failed, if they were noted. */
export function addressOf(error: unknown): string | undefined {
  return error instanceof Error ? addresses.get(error) : undefined;
}
