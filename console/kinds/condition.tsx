import { ConditionRow, hasRightSide, hintOf, operatorOf } from '../forms/condition-field.js';
import { propertiesOf, type Path } from '../forms/schema.js';
import type { JsonObject } from '../drawing/json.js';

interface ConditionFormProps {
  schema: JsonObject;
  data: JsonObject;
  onChange: (path: Path, value: unknown) => void;
}

/** The condition, and the rule in words. */
export function ConditionForm({ schema, data, onChange }: ConditionFormProps) {
  const field = propertiesOf(schema)['condition'] ?? {};
  const { condition } = data;
  const word = operatorOf(condition);
  return (
    <>
      <ConditionRow schema={field} path={['condition']} value={condition} onChange={onChange} />
      <p className="field-hint">
        Goes on by True where the left side {wordOf(word)}
        {hasRightSide(field, condition) && ' the right side'}, else by False. {hintOf(word)}
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
  not_contains: 'does not contain',
  in: 'is one of the items of',
};

function wordOf(sign: string): string {
  return (Object.hasOwn(WORDS, sign) ? WORDS[sign] : undefined) ?? sign.replaceAll('_', ' ');
}
