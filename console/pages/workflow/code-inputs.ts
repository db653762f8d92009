import type { JsonObject } from '../../../graph/json.js';
import type { VariableGroup } from '../../drawing/variables.js';

/** Returns an input for each group of variables: the JSON of an answer, else its value, else its text. */
export function inputsFrom(groups: readonly VariableGroup[]): JsonObject {
  const inputs: Record<string, unknown> = {};
  for (const { heading, choices } of groups) {
    const ending = (end: string) => choices.find(({ text, known }) => text.endsWith(end) && known !== undefined)?.text;
    const first = choices[0]?.text;
    const isInput = first?.startsWith('{{ input') === true;
    const text = isInput
      ? '{{ input }}'
      : (ending('.result.json }}') ??
        choices.find((each) => /\.result\.(?:value|content) \}\}$/.test(each.text))?.text);
    if (text === undefined) continue;
    let name = isInput ? 'input' : toName(heading);
    while (Object.hasOwn(inputs, name)) name += '2';
    inputs[name] = text;
  }
  return inputs;
}

/** Returns `allOrders` for `All orders`. */
function toName(label: string): string {
  const [first = 'value', ...words] = label.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const rest = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const name = [first.charAt(0).toLowerCase() + first.slice(1), ...rest].join('');
  return /^\d/.test(name) ? `n${name}` : name;
}
