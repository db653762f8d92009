/** An ILIKE pattern that matches `text` anywhere, with `%`, `_` and `\` escaped. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;
}
