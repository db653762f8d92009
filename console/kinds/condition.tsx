import { ChoiceField } from '../forms/choice-field.js';
import { propertiesOf, titleOf, type Path } from '../forms/schema.js';
import { VariableText } from '../forms/variable-text.js';
import { asArray, asObject, asText, type JsonObject } from '../graph/json.js';

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
  const word = asText(condition['operator']) ?? '';
  const hasRight = !oneSided(schema).includes(word);
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
      {hasRight && side('right', right)}
      <p className="field-hint">
        Goes on by True where the left side {wordOf(word)}
        {hasRight && ' the right side'}, else by False. {hintOf(word)}
      </p>
    </>
  );
}

/** The operators that need no right side, as the schema says. */
function oneSided(schema: JsonObject): readonly unknown[] {
  const { if: condition } = asObject(propertiesOf(schema)['condition']);
  return asArray(propertiesOf(asObject(condition))['operator']?.['enum']);
}

const WORDS: Readonly<Record<string, string>> = {
  '==': 'equals',
  '!=': 'differs from',
  '>': 'is greater than',
  '<': 'is less than',
  '>=': 'is at least',
  '<=': 'is at most',
  not_contains: 'does not contain',
  in: 'is one of the items of',
};

const COMPARED = 'Two numbers are compared as numbers, anything else as text.';
const AS_TEXT = 'Both sides are texts, in which capital letters count.';
const EMPTY = 'Nothing, [] and {} are empty.';

const HINTS: Readonly<Record<string, string>> = {
  contains: AS_TEXT,
  not_contains: AS_TEXT,
  starts_with: AS_TEXT,
  ends_with: AS_TEXT,
  matches: 'The right side is a pattern in RE2 syntax, which may match anywhere in the text.',
  in: 'The right side is a JSON array, or words between commas.',
  is_empty: EMPTY,
  is_not_empty: EMPTY,
};

function hintOf(sign: string): string {
  return (Object.hasOwn(HINTS, sign) ? HINTS[sign] : undefined) ?? COMPARED;
}

function wordOf(sign: string): string {
  return (Object.hasOwn(WORDS, sign) ? WORDS[sign] : undefined) ?? sign.replaceAll('_', ' ');
}
