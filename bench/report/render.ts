// Renders tables as text for the terminal and as Markdown.
import type { Table } from './tables.js';

export function toText({ title, words, head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column < words ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return `${title}\n\n${lines.join('\n')}\n`;
}

export function toMarkdown({ title, words, head, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = head.map((_cell, column) => (column < words ? '---' : '--:'));
  return `### ${title}\n\n${[line(head), line(rule), ...rows.map(line)].join('\n')}\n`;
}
