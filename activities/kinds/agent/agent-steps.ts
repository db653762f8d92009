// The steps in the result of an agent: the tool calls of each turn. The first step also lists
// the tools that were not offered.
import type { StoredToolCall, StoredTurn } from '../../../db/agents/agent-repository.js';
import { toWarnings, type LeftOutTool } from '../../../db/agents/agent-tools.js';

export function toResultSteps(turns: StoredTurn[], calls: StoredToolCall[], leftOut: LeftOutTool[]): object[] {
  return turns.map(({ turn }) => ({
    iteration: turn + 1,
    tool_calls: calls
      .filter((call) => call.turn === turn)
      .map(({ serverLabel, toolName, outcome }) => ({ server_label: serverLabel, tool_name: toolName, outcome })),
    ...toWarnings(turn, leftOut),
  }));
}
