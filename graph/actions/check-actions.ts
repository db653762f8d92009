// The errors of a node's actions: of an HTTP node, and of the tools of an agent.
import { isEmpty, isObject, ownValue, type JsonObject } from '../json.js';
import { actionOfTool, FACTS_OF_TOOL, hasHostOfAccount, readAction, requiredOf } from './action.js';
import { UNKNOWN_ACTION, valueErrors } from './check-values.js';

const NEEDS_CONNECTION = 'Field required, because the address of the service differs from account to account';

/** Returns the errors of the node's actions by path inside its data. The data may be invalid otherwise. */
export function actionErrors(kind: string, data: JsonObject): Record<string, string>[] {
  if (kind === 'http') return errorsOf(ownValue(data, 'action'), data, { at: 'action', path: '', isTool: false });
  const tools = kind === 'agent' ? ownValue(data, 'tools') : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index) => {
    if (!isObject(tool)) return [];
    const path = `tools.${index}.`;
    return errorsOf(actionOfTool(tool), tool, { at: `${path}id`, path, isTool: true });
  });
}

interface Place {
  /** The path at which an unknown action is reported. */
  at: string;
  /** The path of its owner, with a dot at the end unless empty. */
  path: string;
  /** True for a tool of an agent, where the model fills in the fields that are not fixed. */
  isTool: boolean;
}

function errorsOf(action: unknown, owner: JsonObject, { at, path, isTool }: Place): Record<string, string>[] {
  const named = readAction(action);
  if (named === undefined) return [];
  const { facts } = named;
  if (facts === undefined) return [{ [at]: UNKNOWN_ACTION }];
  const given = ownValue(owner, 'values');
  const values = isObject(given) ? given : {};
  const required = [...requiredOf(facts)].filter((key) => !isTool || Object.hasOwn(values, key));
  const errors = Object.entries(valueErrors({ ...facts, fields: { ...facts.fields, required } }, values));
  const needsConnection = hasHostOfAccount(facts.server) && isEmpty(ownValue(owner, 'connection'));
  return [
    ...(needsConnection ? [{ [`${path}connection`]: NEEDS_CONNECTION }] : []),
    ...errors.map(([key, message]) => ({ [`${path}values.${key}`]: message })),
  ];
}

/** Returns the data without the facts that the tools of an agent hold of their actions, which users do not write. */
export function dataWithoutToolFacts(data: JsonObject): JsonObject {
  const tools = ownValue(data, 'tools');
  if (!Array.isArray(tools)) return data;
  const plain = tools.map((tool: unknown) => {
    if (!isObject(tool) || actionOfTool(tool) === undefined) return tool;
    const { [FACTS_OF_TOOL]: _facts, ...own } = tool;
    return own;
  });
  return { ...data, tools: plain };
}
