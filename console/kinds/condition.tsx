import { ChoiceField } from '../forms/choice-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { VariableText } from '../forms/variable-text.js';
import { asObject, asText, type JsonObject } from '../graph/json.js';

interface ConditionFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** Two sides and what compares them, and the rule in words. */
export function ConditionForm({ schema, data, onChange }: ConditionFormProps) {
  const fields = propertiesOf(propertiesOf(schema)['condition'] ?? {});
  const { left, operator, right } = fields;
  const condition = asObject(data['condition']);
  const change = (path: Path, value: unknown): void => onChange(path, value ?? '');
  const side = (key: 'left' | 'right', field: JsonObject | undefined) => (
    <VariableText
      schema={field ?? {}}
      path={['condition', key]}
      label={titleOf(field ?? {}, key)}
      value={condition[key]}
      isRequired
      onChange={change}
    />
  );
  return (
    <>
      {side('left', left)}
      <ChoiceField
        schema={operator ?? {}}
        path={['condition', 'operator']}
        label={titleOf(operator ?? {}, 'operator')}
        value={condition['operator']}
        isRequired
        onChange={onChange}
      />
      {side('right', right)}
      <p className="field-hint">
        Goes on by True where the left side {wordOf(condition['operator'])} the right side, else by False. Two numbers
        are compared as numbers, anything else as text.
      </p>
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  '==': 'equals',
  '!=': 'differs from',
  '>': 'is greater than',
  '<': 'is less than',
  '>=': 'is at least',
  '<=': 'is at most',
};

function wordOf(operator: unknown): string {
  const sign = asText(operator) ?? '';
  return (Object.hasOwn(WORDS, sign) ? WORDS[sign] : undefined) ?? sign.replaceAll('_', ' ');
}
