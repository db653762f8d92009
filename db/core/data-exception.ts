/**
 * Whether PostgreSQL has refused a value (class 22: out of range, no such text). It refuses the same value each time, so a
 * retry is in vain.
 */
export function isDataException(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code);
}
