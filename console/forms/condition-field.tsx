import { asArray, asObject, asText, type JsonObject } from '../drawing/json.js';
import { ChoiceField } from './choice-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { propertiesOf, titleOf, type Path } from './schema.js';
import { VariableText } from './variable-text.js';

/** Two sides and what compares them in one row, and below it what the operator looks at. */
export function ConditionField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  return (
    <fieldset className="form-group form-plain" data-path={path.join('.')}>
      <legend className="form-legend">{label}</legend>
      <ConditionRow schema={schema} path={path} value={value} onChange={onChange} />
      <p className="field-hint">{hintOf(operatorOf(value))}</p>
    </fieldset>
  );
}

/** The row alone. An operator that looks at the left side only has no right side. */
export function ConditionRow({ schema, path, value, onChange }: Omit<SchemaFieldProps, 'label'>) {
  const { left, operator, right } = propertiesOf(schema);
  const condition = asObject(value);
  const hasRight = hasRightSide(schema, value);
  const change = (at: Path, written: unknown): void => onChange(at, written ?? '');
  const side = (key: 'left' | 'right', field: JsonObject | undefined) => (
    <VariableText
      schema={withoutDescription(field)}
      path={[...path, key]}
      label={titleOf(field ?? {}, key)}
      value={condition[key]}
      isRequired
      onChange={change}
    />
  );
  return (
    <div className={hasRight ? 'form-condition' : 'form-condition form-condition-one-sided'}>
      {side('left', left)}
      <ChoiceField
        schema={withoutDescription(operator)}
        path={[...path, 'operator']}
        label={titleOf(operator ?? {}, 'operator')}
        value={condition['operator']}
        isRequired
        onChange={onChange}
      />
      {hasRight && side('right', right)}
    </div>
  );
}

export function operatorOf(value: unknown): string {
  return asText(asObject(value)['operator']) ?? '';
}

export function hasRightSide(schema: JsonObject, value: unknown): boolean {
  return !oneSided(schema).includes(operatorOf(value));
}

/** The operators that need no right side, as the schema says. */
function oneSided({ if: condition }: JsonObject): readonly unknown[] {
  return asArray(propertiesOf(asObject(condition))['operator']?.['enum']);
}

/** What the fields of a row have in common stands once, below the row. */
function withoutDescription(schema: JsonObject | undefined): JsonObject {
  const { description: _below, ...rest } = schema ?? {};
  return rest;
}

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

/** What an operator looks at, in a sentence. */
export function hintOf(sign: string): string {
  return (Object.hasOwn(HINTS, sign) ? HINTS[sign] : undefined) ?? COMPARED;
}
