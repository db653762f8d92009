// Which nodes read the data that comes in, or hand it on to one that does.
import { leavesOf } from '../graph/json.js';
import { groupBy } from './group-by.js';
import type { Loops } from './loops.js';
import type { N8nNode } from './n8n-file.js';
import { itemsTypes } from './types.js';

/** Types that read the whole of what comes in, whatever their parameters say. */
const READING: ReadonlySet<string> = new Set([
  ...itemsTypes,
  'n8n-nodes-base.code',
  'n8n-nodes-base.functionItem',
  'n8n-nodes-base.noOp',
  'n8n-nodes-base.set',
  '@n8n/n8n-nodes-langchain.chainLlm',
  '@n8n/n8n-nodes-langchain.agent',
]);
const HANDING_ON: ReadonlySet<string> = new Set([
  'n8n-nodes-base.if',
  'n8n-nodes-base.filter',
  'n8n-nodes-base.switch',
  'n8n-nodes-base.wait',
]);

export function findReaders({ inOrder, links }: Loops): Set<N8nNode> {
  const outgoing = groupBy(links, ({ from }) => from);
  const isNamed = inOrder.some((node) => mentions(node, /\$\(|\$node/));
  const readers = new Set<N8nNode>();
  for (const node of inOrder.toReversed()) {
    const handsOn = HANDING_ON.has(node.type) || node.isDisabled;
    const isReader =
      READING.has(node.type) ||
      mentions(node, /\$json|\$input/) ||
      (handsOn && (isNamed || (outgoing.get(node) ?? []).some(({ to }) => readers.has(to))));
    if (isReader) readers.add(node);
  }
  return readers;
}

function mentions({ parameters }: N8nNode, pattern: RegExp): boolean {
  return leavesOf(parameters).some((leaf) => typeof leaf === 'string' && pattern.test(leaf));
}
