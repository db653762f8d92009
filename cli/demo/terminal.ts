// Prints plain lines to a file or a pipe; a terminal gets colours and lines that are updated in place.
import type { WriteStream } from 'node:tty';

type Paint = (text: string) => string;

export interface Terminal {
  line: (text?: string) => void;
  /** Replaces the output of the last call of `live`; on a pipe it prints only the lines that are new. */
  live: (lines: string[]) => void;
  /** Keeps the output of `live` on the screen. */
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
  const paint =
    isLive && !env['NO_COLOR']
      ? (code: number): Paint =>
          (text) =>
            `\u001B[${code}m${text}\u001B[0m`
      : plain;
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
    bold: paint(1),
    dim: paint(2),
    green: paint(32),
    red: paint(31),
    yellow: paint(33),
    columns: isLive ? output.columns : 120,
    isLive,
  };
}

function plain(): Paint {
  return (text) => text;
}
