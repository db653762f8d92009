// Time zones by their names in the IANA database.

const HALF_A_YEAR_MS = 183 * 24 * 3_600_000;

let known: Map<string, string> | undefined;

/** The zone as Temporal spells it; an alias may become the zone that it stands for. Undefined for an unknown one. */
export function toTimeZone(name: string): string | undefined {
  known ??= new Map(['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone.toLowerCase(), zone]));
  const zone = known.get(name.toLowerCase());
  // An offset such as +01:00 is none: Temporal knows names alone.
  if (zone !== undefined || !/^[a-z]/i.test(name)) return zone;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Whether the clocks of the zone show the same minutes as UTC, in summer and in winter. */
export function hasWholeHours(timeZone: string): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, minute: 'numeric' });
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  return [hour, hour + HALF_A_YEAR_MS].every((time) => Number(format.format(time)) === 0);
}
