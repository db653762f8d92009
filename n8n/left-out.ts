// Nodes that were left out: the nodes before and behind them are linked, so that the rest still runs.
import type { Flow } from './flows.js';
import type { N8nLink, N8nNode } from './n8n-file.js';
import { emptyPlace } from './places.js';
import { LOOP_TYPE } from './types.js';

/** Types that decide what follows, or whether anything does. */
const NOT_CLOSABLE: ReadonlySet<string> = new Set([
  LOOP_TYPE,
  'n8n-nodes-base.if',
  'n8n-nodes-base.filter',
  'n8n-nodes-base.switch',
  'n8n-nodes-base.merge',
  'n8n-nodes-base.compareDatasets',
  'n8n-nodes-base.stopAndError',
  '@n8n/n8n-nodes-langchain.textClassifier',
  '@n8n/n8n-nodes-langchain.sentimentAnalysis',
]);

/** Whether the nodes around it can be linked: it has one input and one output. An output for errors does not count. */
export function isClosable(node: N8nNode, inputs: readonly Flow[][], outgoing: readonly N8nLink[]): boolean {
  if (NOT_CLOSABLE.has(node.type)) return false;
  const errors = node.settings['onError'] === 'continueErrorOutput' ? 1 : 0;
  return inputs.length <= 1 && outgoing.every(({ output }) => output <= errors);
}

/** What leads on from the node: the ways that led into it, each once. */
export function closeOver(node: N8nNode, inputs: readonly Flow[][], keepsData: boolean): Flow[] {
  const gap = emptyPlace(`the node "${node.label}" was left out`, 0);
  const flows = new Map<string, Flow>();
  for (const flow of inputs[0] ?? []) {
    const { source } = flow;
    flows.set(JSON.stringify([source.id, source.handle]), keepsData ? flow : { ...flow, place: gap });
  }
  return [...flows.values()];
}
