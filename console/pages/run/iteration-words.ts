/** `LOOP[3]/INNER[0]` with the labels of the loops in place of their ids. */
export function iterationInWords(path: string, labels: ReadonlyMap<string, string>): string {
  const parts = path.split('/').map((part) => {
    const [, id = part, index = ''] = /^(.*)\[(\d+)\]$/.exec(part) ?? [];
    return `${labels.get(id) ?? id} [${index}]`;
  });
  return parts.join(' › ');
}
