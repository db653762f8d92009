// The common part of an agent's steps: they are claimed, and their cost is the sum of the ledger.
import { recordPaidEnd } from '../../../db/agents/agent-charges.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import type { OutgoingClient } from '../../../outgoing/outgoing-client.js';
import type { NodeStep } from '../../node/node-step.js';
import { ledgerCharge } from '../llm/ledger-charge.js';
import type { ModelDeps } from '../llm/llm.js';
import type { ChildDeps } from '../child-run.js';
import type { LoadToolsDeps } from './load-tools.js';

export type AgentDeps = LoadToolsDeps & ChildDeps & ModelDeps & { client: OutgoingClient };

export function agentStepFrame(deps: AgentDeps): Omit<NodeStep<never>, 'factsOf' | 'run'> {
  return {
    isClaimed: true,
    chargeSoFar: (task) => ledgerCharge(deps, task),
    store: (end) => recordPaidEnd(deps.db, end),
  };
}

/** Returns the part of the node that may contain variables. */
export function pickTemplates({ messages, settings, tools }: AgentNodeData): unknown {
  const ofTools = tools.map((tool) => {
    if (tool.type === 'mcp') return tool.headers;
    return tool.type === 'action' ? tool.values : {};
  });
  return { messages, settings, ofTools };
}
