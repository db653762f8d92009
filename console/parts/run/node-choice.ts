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

/** The signs that separate the parts of a path are encoded in its ids. */
function decodeId(id: string): string {
  return id.replace(/%(25|2F|5B|5D|7E)/g, (sign) => decodeURIComponent(sign));
}
