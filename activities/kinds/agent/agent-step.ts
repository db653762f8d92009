// The steps of an agent have this in common: the ledger counts attempts, and costs add up over the steps.
import { findModel, type ModelProviders } from '../../../config/model-providers.js';
import { recordPaidEnd } from '../../../db/agents/agent-charges.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import type { Charge } from '../../node/failures.js';
import type { NodeDeps, NodeStep, NodeTask } from '../../node/node-step.js';
import type { LiveTexts } from '../../live/live-texts.js';
import type { MessageFilesDeps } from '../llm/message-files.js';
import { ledgerCharge } from '../llm/ledger-charge.js';
import type { ModelClients } from '../llm/model-clients.js';
import type { ChildDeps } from '../child-run.js';
import type { FormChecker } from '../structured-answer.js';
import type { AgentSessionDeps } from './agent-session.js';

export interface AgentDeps extends AgentSessionDeps, ChildDeps, MessageFilesDeps {
  providers: ModelProviders;
  clients: ModelClients;
  live: LiveTexts;
  forms: FormChecker;
  node: NodeDeps;
}

export function agentStepFrame(deps: AgentDeps): Omit<NodeStep<never>, 'settled' | 'perform'> {
  return {
    maxAttempts: Number.POSITIVE_INFINITY,
    firstDelayMs: 500,
    attemptOf: () => 1,
    chargeSoFar: (task) => chargeOf(deps, task),
    store: (end) => recordPaidEnd(deps.db, end),
  };
}

/** The cost of the agent so far. */
export async function chargeOf({ db, providers }: AgentDeps, task: NodeTask): Promise<Charge> {
  const modelName = (task.node.data['settings'] as { model_name?: string } | undefined)?.model_name ?? '';
  return ledgerCharge(db, task, findModel(providers, modelName)?.priceVersion ?? '');
}

/** The part of the node that holds variables. */
export function pickTemplates({ messages, settings, tools }: AgentNodeData): unknown {
  return { messages, settings, headers: tools.map((tool) => (tool.type === 'mcp' ? tool.headers : {})) };
}
