import { decodeId } from '../../../graph/iteration-path.js';

/** A node of the run. Inside loops, `path` names the iteration. */
export interface NodeChoice {
  nodeId: string;
  path: string;
}

/** Formats the path of an iteration, `LOOP[3]/INNER[0]`, with loop labels instead of ids. */
export function iterationInWords(path: string, labels: ReadonlyMap<string, string>): string {
  const parts = path.split('/').map((part) => {
    const [, id = part, index = ''] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return `${labels.get(decodeId(id)) ?? decodeId(id)} [${index}]`;
  });
  return parts.join(' › ');
}

/** Formats the path of an iteration as its numbers only, from the outside in: `[3] [0]`. */
export function iterationNumber(path: string): string {
  return [...path.matchAll(/\[\d+\](?=\/|$)/g)].join(' ');
}
