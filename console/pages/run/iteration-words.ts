/** `LOOP[3]/INNER[0]` with the labels of the loops in place of their ids. */
export function iterationInWords(path: string, labels: ReadonlyMap<string, string>): string {
  const parts = path.split('/').map((part) => {
    const [, id = part, index = ''] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return `${labels.get(decodeId(id)) ?? decodeId(id)} [${index}]`;
  });
  return parts.join(' › ');
}

/** Paths hold ids with the signs encoded that stand between them. */
function decodeId(id: string): string {
  return id.replace(/%(25|2F|5B|5D|7E)/g, (sign) => decodeURIComponent(sign));
}
