// The part of a child's output that the user sees: its warnings and errors, one line each.

const LOUD_LEVELS = new Set<unknown>(['warn', 'error', 'fatal', 40, 50, 60]);

/**
 * Returns the line to show, or undefined for one that only belongs in the log. A line that is no log entry is part of a
 * crash report and is shown.
 */
export function warningOf(name: string, line: string): string | undefined {
  const entry = parseEntry(line);
  if (entry === undefined) return line.trim() === '' ? undefined : `[${name}] ${line}`;
  if (!LOUD_LEVELS.has(entry['level'])) return undefined;
  const error = entry['err'] as { message?: unknown } | undefined;
  const cause = typeof error?.message === 'string' ? `: ${error.message}` : '';
  return `[${name}] ${String(entry['level'])}: ${typeof entry['msg'] === 'string' ? entry['msg'] : ''}${cause}`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
