import { modelParameters } from '../../../graph/model-parameters.js';
import type { VariableValues } from '../../../graph/template.js';
import { withMarkedNumbers } from '../marked-numbers.js';

/** Returns `modelParameters` for a client library that would round large numbers. */
export function toModelParameters(settings: Record<string, unknown>, values: VariableValues): Record<string, unknown> {
  return withMarkedNumbers(modelParameters(settings, values));
}
