// Sub-nodes, which serve other nodes: models, memories, tools, parsers.
import { groupBy } from './group-by.js';
import type { N8nFile, N8nNode } from './n8n-file.js';

export interface SubNodes {
  has: (node: N8nNode) => boolean;
  /** The sub-nodes of a node of one kind of connection, which count as used. */
  take: (node: N8nNode, kind: string) => N8nNode[];
  /** The sub-nodes that no node has used. */
  unused: () => N8nNode[];
}

export function findSubNodes({ subNodes }: N8nFile): SubNodes {
  const byOwner = groupBy(subNodes, ({ of }) => of);
  const all = new Set(subNodes.map(({ subNode }) => subNode));
  const used = new Set<N8nNode>();
  return {
    has: (node) => all.has(node),
    take(node, kind) {
      const connections = (byOwner.get(node) ?? []).filter((connection) => connection.kind === kind);
      const found = new Set(connections.map(({ subNode }) => subNode));
      for (const subNode of found) used.add(subNode);
      return [...found];
    },
    unused: () => [...all].filter((subNode) => !used.has(subNode)),
  };
}
