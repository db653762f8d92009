/** The machine word of a network error; a name that failed on every address has it one level down. */
export function causeCode(error: unknown): string {
  for (const at of causesOf(error)) {
    const { code } = at as Error & { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return 'unknown error';
}

/** The error, its cause, that one's cause and so on. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let at: unknown = error; at instanceof Error; at = at instanceof AggregateError ? at.errors[0] : at.cause) {
    yield at;
  }
}
