// An example of an action of a service, as the changes that draw it between a trigger and an output.
import { fieldsOf, hasHostOfAccount, requiredOf, type ActionFacts, type ActionField } from '../actions/action.js';
import { cutText } from '../cut-text.js';
import { ownValue, setOwn, type JsonObject } from '../json.js';
import { nodeDefinitions } from '../nodes/registry.js';
import type { Change } from './changes-schema.js';

/**
 * Returns the changes of the example. Every required field has a value: one that its schema names, else a variable.
 * `connection` is the id of a connection that fits. If it is absent and the host of the action differs from account to
 * account, 1 stands for it.
 */
export function actionExampleOf(
  action: { service: string; id: string },
  facts: Pick<ActionFacts, 'title' | 'server' | 'fields'>,
  connection?: number,
): Change[] {
  const values: JsonObject = {};
  const required = requiredOf(facts);
  for (const [key, field] of fieldsOf(facts)) if (required.has(key)) setOwn(values, key, valueOf(field));
  const used = connection ?? (hasHostOfAccount(facts.server) ? 1 : undefined);
  const data = { values, ...(used !== undefined && { connection: used }) };
  const { trigger, output } = nodeDefinitions;
  return [
    { add: { id: 'start', kind: trigger.type, data: trigger.example } },
    { add: { id: 'example', action, label: cutText(facts.title, 255), data, after: 'start' } },
    { add: { id: 'result', kind: output.type, data: { value: '{{ example.result.content }}' }, after: 'example' } },
  ];
}

/** A value that is exactly one variable may have any type. */
function valueOf(field: ActionField): unknown {
  const choices = ownValue(field, 'enum');
  const fixed = ownValue(field, 'const') ?? ownValue(field, 'default');
  return fixed ?? (Array.isArray(choices) && choices.length > 0 ? choices[0] : '{{ input.text }}');
}
