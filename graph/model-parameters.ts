// The settings of a model node that go to the provider.
import { renderJson, type VariableValues } from './template.js';

const OWN_SETTINGS = new Set([
  'model_name',
  'timeout',
  'max_iterations',
  'max_cost',
  'approval',
  'approval_timeout',
  'connection_timeout',
  'on_reject',
  'retry_unsafe',
  'pool',
  'schedule_timeout',
]);

/**
 * Returns the settings as chat-completion parameters, with variables filled in. Omits the settings in `OWN_SETTINGS`,
 * which only this service reads, and those without a value or with null.
 */
export function modelParameters(settings: Record<string, unknown>, values: VariableValues): Record<string, unknown> {
  const parameters = Object.entries(settings).filter(([name]) => !OWN_SETTINGS.has(name));
  const rendered = renderJson(Object.fromEntries(parameters), values) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rendered).filter(([, value]) => value !== null && value !== undefined));
}
