import { withMarkedNumbers } from '../marked-numbers.js';
import { renderJson, type VariableValues } from '../../../graph/template.js';

/** Settings that are read here and not sent to the provider. */
const OWN_SETTINGS = new Set([
  'model_name',
  'timeout',
  'max_iterations',
  'max_cost',
  'approval',
  'approval_timeout',
  'on_reject',
  'retry_unsafe',
]);

/**
 * Returns a model node's settings as chat-completion parameters: variables filled in, our own and empty settings left
 * out.
 */
export function toModelParameters(settings: Record<string, unknown>, values: VariableValues): Record<string, unknown> {
  const parameters = Object.entries(settings).filter(([name]) => !OWN_SETTINGS.has(name));
  const rendered = withMarkedNumbers(renderJson(Object.fromEntries(parameters), values)) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rendered).filter(([, value]) => value !== null && value !== undefined));
}
