// The types of the input of an agent's tool call, and of its answer.
import type { StoredToolCall } from '../../../db/agents/agent-repository.js';
import type { ToolOutcome } from '../../../db/core/tables.js';
import type { AgentNodeData } from '../../../graph/nodes/agent.js';
import type { VariableValues } from '../../../graph/template.js';

export interface ToolWork {
  data: AgentNodeData;
  values: VariableValues;
  /** The ids of the workflows that are tools, by tool name. */
  workflows: ReadonlyMap<string, number>;
  /** By tool name, for tools that are actions: the index in `data.tools`. */
  actions: ReadonlyMap<string, number>;
  turn: number;
  call: StoredToolCall;
}

export interface Answer {
  outcome: ToolOutcome;
  text: string;
  /** The attempt in the ledger that sent the call. Absent if no attempt did, and for a call that is a run. */
  attempt?: number;
}
