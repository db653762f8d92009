const UNITS: [name: string, bytes: number][] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
];

/** `2.0 GiB`, `1.5 MiB`, `12 KiB`, `87 bytes`. */
export function formatBytes(bytes: number): string {
  for (const [name, size] of UNITS) if (bytes >= size) return `${(bytes / size).toFixed(1)} ${name}`;
  return bytes >= 1024 ? `${Math.round(bytes / 1024)} KiB` : `${bytes} bytes`;
}
