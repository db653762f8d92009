/**
 * Returns the code of the first error that has one: `error`, then its causes. The cause of an `AggregateError` is the
 * first of its errors. Returns `unknown error` if none has a code.
 */
export function causeCode(error: unknown): string {
  for (const cause of causesOf(error)) {
    const { code } = cause as Error & { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return 'unknown error';
}

/** Returns the host and port of a URL, for the message of a failed connection. */
export function toAddress({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

export function* causesOf(error: unknown): Generator<Error> {
  let cause: unknown = error;
  while (cause instanceof Error) {
    yield cause;
    cause = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
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

const performed = new WeakSet<Error>();

/** Marks the error of a request that a server has carried out and answered with a redirect to another address. */
export function notePerformed(error: unknown): unknown {
  if (error instanceof Error) performed.add(error);
  return error;
}

/** Returns true if `notePerformed` has marked the error or one of its causes. */
export function wasPerformed(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => performed.has(cause));
}
