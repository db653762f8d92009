import { decodeId } from '../../../graph/iteration-path.js';

/** A node of the run. If it is in a loop, the choice names one of its iterations. */
export interface NodeChoice {
  nodeId: string;
  path: string;
}

/** Returns the path of an iteration, `LOOP[3]/INNER[0]`, with the labels of the loops in place of their ids. */
export function iterationInWords(path: string, labels: ReadonlyMap<string, string>): string {
  const parts = path.split('/').map((part) => {
    const [, id = part, index = ''] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return `${labels.get(decodeId(id)) ?? decodeId(id)} [${index}]`;
  });
  return parts.join(' › ');
}
