// Numbers the tool calls of an agent over all its turns. `waits` identifies the runs of the calls by this number.
import { sql, type RawBuilder } from 'kysely';

/** A model answer with more tool calls fails the agent. */
export const MAX_TOOL_CALLS = 128;

/** Counts from 1. */
export function toolCallNumber({ turn, ordinal }: { turn: number; ordinal: number }): number {
  return turn * MAX_TOOL_CALLS + ordinal + 1;
}

/** The number in SQL, for the row `call` of `agent_tool_calls`. */
export const numberOfCall: RawBuilder<number> = sql`call.turn * ${sql.lit(MAX_TOOL_CALLS)} + call.ordinal + 1`;
