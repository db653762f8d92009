const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns `87 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min` or `3 d 4 h`. Negative durations count as 0. */
export function formatDuration(ms: number): string {
  const length = Math.max(0, ms);
  if (Math.round(length) < SECOND_MS) return `${Math.round(length)} ms`;
  // 59.95 s would round to `60.0 s`.
  if (length < 59.95 * SECOND_MS) return `${(length / SECOND_MS).toFixed(1)} s`;
  const whole = Math.round(length / SECOND_MS) * SECOND_MS;
  if (whole < HOUR_MS) return pair(whole, [MINUTE_MS, 'min'], [SECOND_MS, 's']);
  if (whole < DAY_MS) return pair(whole, [HOUR_MS, 'h'], [MINUTE_MS, 'min']);
  return pair(whole, [DAY_MS, 'd'], [HOUR_MS, 'h']);
}

type Unit = readonly [ms: number, name: string];

function pair(ms: number, [big, bigName]: Unit, [small, smallName]: Unit): string {
  const first = Math.floor(ms / big);
  const second = Math.floor((ms % big) / small);
  return second === 0 ? `${first} ${bigName}` : `${first} ${bigName} ${second} ${smallName}`;
}

const UNITS: [name: string, bytes: number][] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
];

/** Returns `2.0 GiB`, `1.5 MiB`, `12 KiB` or `87 bytes`. */
export function formatBytes(bytes: number): string {
  for (const [name, size] of UNITS) if (bytes >= size) return `${(bytes / size).toFixed(1)} ${name}`;
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} KiB` : `${bytes} bytes`;
}
