// A condition: one test, or groups of tests of which all or any must hold.
import { MAX_COMPARISONS, MAX_LISTS } from '../../graph/combined.js';
import type { JsonObject } from '../../graph/json.js';
import { startValue } from '../drawing/change-drawing.js';
import { Button } from '../ui/button.js';
import { Hint } from '../ui/fields.js';
import { asArray, asObject, asText } from '../ui/json.js';
import { countTests, listIn, pathOfLast, withoutItem, withTest, type ListName } from './combined-tests.js';
import { ChoiceField, VariableText } from './fields.js';
import { focusField } from './focus.js';
import { useFieldError, type SchemaFieldProps } from './form.js';
import { propertiesOf, titleOf } from './schema.js';

type TestProps = Omit<SchemaFieldProps, 'label'>;

/** The tests under the name of their field. */
export function ConditionField({ label, ...tests }: SchemaFieldProps) {
  return (
    <fieldset className="form-group form-plain" data-path={tests.path.join('.')}>
      <legend className="form-legend">{label}</legend>
      <ConditionTests {...tests} />
      {listIn(tests.value) === undefined && <p className="field-hint">{hintOf(operatorOf(tests.value))}</p>}
    </fieldset>
  );
}

/** The fields of a condition, and the buttons that add tests and groups. */
export function ConditionTests(props: TestProps) {
  const { path, value } = props;
  const isFull = countTests(value) >= MAX_COMPARISONS;
  const error = useFieldError(path);
  return (
    <>
      {listIn(value) === undefined ? (
        <>
          <TestFields {...props} />
          <AddButtons {...props} lists={0} isFull={isFull} />
        </>
      ) : (
        <Group {...props} numbers={[]} isFull={isFull} onRemove={undefined} />
      )}
      {isFull && <p className="field-hint">A condition has at most {MAX_COMPARISONS} tests.</p>}
      {error !== undefined && <p className="field-error">{error}</p>}
    </>
  );
}

interface GroupProps extends TestProps {
  /** The position of the group: `[2, 1]` is the first item of the second item. Empty for the outermost group. */
  numbers: readonly number[];
  isFull: boolean;
  /** Undefined for the outermost group, and for its only item: a condition has at least one test. */
  onRemove: (() => void) | undefined;
}

function Group({ schema, path, value, onChange, numbers, isFull, onRemove }: GroupProps) {
  const list = listIn(value);
  if (list === undefined) return null;
  const { name, items } = list;
  const isRemovable = items.length > 1 || onRemove !== undefined;
  const removeItem = (at: number): void => {
    const left = withoutItem(value, at, onRemove === undefined);
    if (left === undefined) onRemove?.();
    else onChange(path, left);
  };
  return (
    <div className="condition-group">
      <div className="condition-head">
        <select
          className="control"
          aria-label={
            numbers.length === 0 ? 'Tests that must hold' : `Tests of group ${numbers.join('.')} that must hold`
          }
          value={name}
          onChange={({ target }) => onChange(path, { [target.value as ListName]: items })}
        >
          <option value="all">All of</option>
          <option value="any">Any of</option>
        </select>
        {onRemove !== undefined && <RemoveButton name={`group ${numbers.join('.')}`} onRemove={onRemove} />}
      </div>
      {items.map((item, at) => {
        const own = [...numbers, at + 1];
        const field = { schema, path: [...path, name, at], value: item, onChange };
        const remove = isRemovable ? (): void => removeItem(at) : undefined;
        const isGroup = listIn(item) !== undefined;
        const title = `${isGroup ? 'Group' : 'Test'} ${own.join('.')}`;
        return (
          <fieldset key={at} className="condition-item">
            <legend className="hidden-text">{title}</legend>
            {isGroup ? (
              <Group {...field} numbers={own} isFull={isFull} onRemove={remove} />
            ) : (
              <>
                <div className="condition-head">
                  <span className="condition-number" aria-hidden="true">
                    {title}
                  </span>
                  {remove !== undefined && <RemoveButton name={`test ${own.join('.')}`} onRemove={remove} />}
                </div>
                <TestFields {...field} />
                {specialHint(operatorOf(item)) !== undefined && <Hint>{specialHint(operatorOf(item))}</Hint>}
              </>
            )}
          </fieldset>
        );
      })}
      <AddButtons {...{ schema, path, value, onChange, isFull }} lists={numbers.length + 1} />
    </div>
  );
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <Button variant="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
      <span aria-hidden="true">✕</span>
    </Button>
  );
}

interface AddButtonsProps extends TestProps {
  /** The number of lists around the present tests. A group can be added while this number is below `MAX_LISTS`. */
  lists: number;
  isFull: boolean;
}

function AddButtons({ schema, path, value, onChange, lists, isFull }: AddButtonsProps) {
  const add = (isGroup: boolean): void => {
    const next = withTest(value, asObject(startValue(schema)), isGroup);
    onChange(path, next);
    focusField([...path, ...pathOfLast(next), 'left'].join('.'));
  };
  return (
    <div className="condition-add">
      <Button variant="quiet" disabled={isFull} onClick={() => add(false)}>
        <span aria-hidden="true">+</span> Add test
      </Button>
      {lists < MAX_LISTS && (
        <Button variant="quiet" disabled={isFull} onClick={() => add(true)}>
          <span aria-hidden="true">+</span> Add group
        </Button>
      )}
    </div>
  );
}

/** The three fields of a test. Operators that only use the left side hide the right one. */
function TestFields({ schema, path, value, onChange }: TestProps) {
  const { left, operator, right } = propertiesOf(schema);
  const test = asObject(value);
  const side = (key: 'left' | 'right', field: JsonObject | undefined) => (
    <VariableText
      schema={withoutDescription(field)}
      path={[...path, key]}
      label={titleOf(field ?? {}, key)}
      value={test[key]}
      isRequired
      onChange={(at, written) => onChange(at, written ?? '')}
    />
  );
  return (
    <div className="condition-test">
      {side('left', left)}
      <ChoiceField
        schema={withoutDescription(operator)}
        path={[...path, 'operator']}
        label={titleOf(operator ?? {}, 'operator')}
        value={test['operator']}
        isRequired
        onChange={onChange}
      />
      {hasRightSide(schema, value) && side('right', right)}
    </div>
  );
}

export function operatorOf(value: unknown): string {
  return asText(asObject(value)['operator']) ?? '';
}

export function hasRightSide(schema: JsonObject, value: unknown): boolean {
  return !oneSided(schema).includes(operatorOf(value));
}

/** Returns the operators that need no right side, according to the schema. */
function oneSided({ if: condition }: JsonObject): readonly unknown[] {
  return asArray(propertiesOf(asObject(condition))['operator']?.['enum']);
}

/** Removes the description. Hints below the fields explain operators. */
function withoutDescription(schema: JsonObject | undefined): JsonObject {
  const { description: _below, ...rest } = schema ?? {};
  return rest;
}

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

export function hintOf(operator: string): string {
  return specialHint(operator) ?? 'Two numbers are compared as numbers, anything else as text.';
}

function specialHint(operator: string): string | undefined {
  return Object.hasOwn(HINTS, operator) ? HINTS[operator] : undefined;
}
