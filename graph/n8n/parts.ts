// Nodes that are parts of other nodes: models, memories, tools, parsers.
import { groupBy } from './group-by.js';
import type { N8nFile, N8nNode } from './n8n-file.js';

export interface Parts {
  isPart: (node: N8nNode) => boolean;
  /** The parts of a node of one kind of connection, which count as used. */
  take: (node: N8nNode, kind: string) => N8nNode[];
  /** The parts that no node has used. */
  unused: () => N8nNode[];
  /** The nodes that wait for a call. */
  waiting: readonly N8nNode[];
}

export function findParts({ nodes, parts }: N8nFile): Parts {
  const byOwner = groupBy(parts, ({ of }) => of);
  const all = new Set(parts.map(({ part }) => part));
  const used = new Set<N8nNode>();
  return {
    isPart: (node) => all.has(node),
    take(node, kind) {
      const found = (byOwner.get(node) ?? []).filter((connection) => connection.kind === kind).map(({ part }) => part);
      for (const part of found) used.add(part);
      return [...new Set(found)];
    },
    unused: () => [...all].filter((part) => !used.has(part)),
    waiting: nodes.filter(
      ({ type, parameters, isDisabled }) =>
        type === 'n8n-nodes-base.wait' && parameters['resume'] === 'webhook' && !isDisabled,
    ),
  };
}
