// The tool calls of an agent as far as they are known: those of its steps, and those that its model has just asked for.
import { isObject } from '../../../graph/json.js';
import { parseJsonOrUndefined } from '../../../graph/json-text.js';
import type { NodeWords, ToolCall } from '../../live/words.js';
import type { Step, StepCall } from '../node-result/agent-step.js';

export type ShownCall = Pick<
  StepCall,
  'tool_name' | 'arguments' | 'edited_arguments' | 'outcome' | 'answer' | 'run_id' | 'left_out' | 'approval'
>;

/**
 * Returns the calls of the steps, followed by those of `words` that the steps lack. Steps count from 1, model calls in
 * `words` from 0. An agent may call the same tool in each step, so names alone do not show that a call is known.
 */
export function callsSoFar(
  steps: readonly Pick<Step, 'iteration' | 'tool_calls'>[],
  words: Pick<NodeWords, 'step' | 'toolCalls'> | undefined,
): ShownCall[] {
  const calls = steps.flatMap((step) => step.tool_calls);
  if (words === undefined) return calls;
  const isKnown = steps.some((step) => step.iteration === words.step + 1 && step.tool_calls.length > 0);
  return isKnown ? calls : [...calls, ...words.toolCalls.map(toStepCall)];
}

function toStepCall({ name, arguments: text }: ToolCall): ShownCall {
  const nothing = { edited_arguments: null, outcome: null, answer: null, run_id: null, approval: null };
  return { ...nothing, tool_name: name, arguments: readArguments(text), left_out: false };
}

function readArguments(text: string): unknown {
  const value = parseJsonOrUndefined(text);
  return isObject(value) ? value : text;
}
