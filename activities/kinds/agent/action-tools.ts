// Actions of services as tools of an agent: the model gives the fields that the drawing does not fix
// (docs/use/services.md).
import type { AgentTool } from '../../../db/agents/agent-tools.js';
import { actionOfTool, fieldsOf, readAction, requiredOf, type ActionFacts } from '../../../graph/actions/action.js';
import { UNKNOWN_ACTION, valueErrors } from '../../../graph/actions/check-values.js';
import { cutText } from '../../../graph/cut-text.js';
import { setOwn, type JsonObject } from '../../../graph/json.js';
import { ACTION_LABEL_PREFIX, type ActionTool } from '../../../graph/nodes/agent.js';
import { NodeFailure } from '../../node/failures.js';
import type { NodeTask } from '../../node/node-step.js';

const MAX_DESCRIPTION = 1_024;

/** Returns the tool; `loadTools` may still change its name. Throws like `factsOf`. */
export function findActionTool({ run }: NodeTask, tool: ActionTool, index: number): AgentTool {
  const facts = factsOf(tool);
  const { title, description = '' } = facts;
  const name = tool.name ?? run.masker.text(title);
  const told = tool.description ?? [title, description].filter(Boolean).join('. ');
  return {
    name,
    serverLabel: `${ACTION_LABEL_PREFIX}${tool.service}`,
    toolName: name,
    description: run.masker.text(cutText(told, MAX_DESCRIPTION)),
    parameters: toParameters(facts, tool.values ?? {}),
    needsApproval: (tool.require_approval ?? (facts.has_side_effects ? 'always' : 'never')) === 'always',
    toolIndex: index,
  };
}

/** Throws `action_missing` if the service had no such action when the drawing was saved. */
export function factsOf(tool: ActionTool): ActionFacts {
  const facts = readAction(actionOfTool(tool))?.facts;
  if (facts === undefined) throw new NodeFailure('action_missing', UNKNOWN_ACTION);
  return facts;
}

/**
 * Returns the JSON Schema of the arguments that the model gives. The schema omits the fields that the drawing fixes,
 * and the `x-` keys, which say where in the request a value goes.
 */
function toParameters(facts: ActionFacts, fixed: JsonObject): JsonObject {
  const properties: JsonObject = {};
  for (const [key, field] of openFields(facts, fixed)) {
    const plain = Object.entries(field).filter(([name]) => !name.startsWith('x-'));
    setOwn(properties, key, Object.fromEntries(plain));
  }
  const required = [...requiredOf(facts)].filter((key) => Object.hasOwn(properties, key));
  return { type: 'object', properties, required };
}

function openFields(facts: ActionFacts, fixed: JsonObject): ReturnType<typeof fieldsOf> {
  return fieldsOf(facts).filter(([key]) => !Object.hasOwn(fixed, key));
}

/** Returns the errors in the model's arguments as one sentence, or undefined if the arguments fit the fields. */
export function argumentsProblem(facts: ActionFacts, fixed: JsonObject, given: JsonObject): string | undefined {
  const properties = Object.fromEntries(openFields(facts, fixed));
  const required = [...requiredOf(facts)].filter((key) => Object.hasOwn(properties, key));
  const errors = valueErrors({ fields: { type: 'object', properties, required } }, given);
  const sentences = Object.entries(errors).map(([key, message]) => `${key}: ${message}`);
  return sentences.length === 0 ? undefined : `The arguments do not fit: ${sentences.join('; ')}.`;
}
