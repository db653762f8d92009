/** Returns the code of a network error. If all addresses of a name failed, a nested error has the code. */
export function causeCode(error: unknown): string {
  for (const at of causesOf(error)) {
    const { code } = at as Error & { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return 'unknown error';
}

/** Returns the host and port of a URL, for the message of a failed connection. */
export function toAddress({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

export function* causesOf(error: unknown): Generator<Error> {
  for (let at: unknown = error; at instanceof Error; at = at instanceof AggregateError ? at.errors[0] : at.cause) {
    yield at;
  }
}

const addresses = new WeakMap<Error, string>();

/** Stores the address of the failed request with its error. Returns the error. */
export function noteAddress(error: unknown, url: URL): unknown {
  if (error instanceof Error) addresses.set(error, toAddress(url));
  return error;
}

/** Returns the host and port that `noteAddress` has stored. */
export function addressOf(error: unknown): string | undefined {
  return error instanceof Error ? addresses.get(error) : undefined;
}
