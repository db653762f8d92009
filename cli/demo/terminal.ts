// Prints plain lines to a file or pipe; on a terminal, coloured lines that are updated in place.
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

type Paint = (text: string) => string;

export interface Terminal {
  line: (text?: string) => void;
  /** Replaces the output of the previous call of `live`. A pipe gets only the new lines. */
  live: (lines: string[]) => void;
  /** Leaves the output of `live` on the screen. */
  keepLines: () => void;
  bold: Paint;
  dim: Paint;
  green: Paint;
  red: Paint;
  yellow: Paint;
  columns: number;
  isLive: boolean;
}

export function createTerminal(output: WriteStream, env: NodeJS.ProcessEnv): Terminal {
  const isLive = output.isTTY && env['TERM'] !== 'dumb';
  const isColoured = isLive && !env['NO_COLOR'];
  const paint =
    (format: Parameters<typeof styleText>[0]): Paint =>
    (text) =>
      isColoured ? styleText(format, text, { validateStream: false }) : text;
  let drawn: string[] = [];
  return {
    line: (text = '') => output.write(`${text}\n`),
    live(lines) {
      if (isLive) {
        if (drawn.length > 0) output.write(`\u001B[${drawn.length}A\u001B[0J`);
        output.write(lines.map((line) => `${line}\n`).join(''));
      } else {
        for (const line of lines) if (!drawn.includes(line)) output.write(`${line}\n`);
      }
      drawn = lines;
    },
    keepLines: () => (drawn = []),
    bold: paint('bold'),
    dim: paint('dim'),
    green: paint('green'),
    red: paint('red'),
    yellow: paint('yellow'),
    columns: isLive ? output.columns : 120,
    isLive,
  };
}
