import { useState } from 'react';
import { Field } from '../ui/fields.js';
import { formatSeconds, secondsOf, TIME_UNITS, unitOf, type TimeUnit } from '../ui/time-units.js';
import { useFieldError, type SchemaFieldProps } from './form.js';
import { attributesOf } from './fields.js';
import { descriptionOf, typesOf, variantsOf } from './schema.js';
import { parseNumber } from './values.js';
import { VariableInput } from './variable-input.js';

/** `format` of a length of time in seconds. */
export const SECONDS = 'seconds';

/** A length of time, which is entered in any unit and stored in seconds. A variable's value is taken as seconds. */
export function DurationField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const stored = typeof value === 'string' ? parseNumber(value) : value;
  const isNumber = typeof stored === 'number';
  const [entered, setEntered] = useState<{ text: string; unit: TimeUnit }>(() => shownAs(stored));
  // The typed text stays while it means the stored value: `1.` and `1.0` are the same number.
  const current = isSame(toSeconds(entered.text, entered.unit), value) ? entered : shownAs(stored);
  const unit = isNumber || stored === undefined || stored === null ? current.unit : 'seconds';
  const enter = (text: string, next: TimeUnit): void => {
    setEntered({ text, unit: next });
    onChange(path, toSeconds(text, next));
  };
  const fallback = schema['default'];
  const parts = [
    descriptionOf(schema),
    typeof fallback === 'number' ? `Empty: ${formatSeconds(fallback)}` : undefined,
  ].filter((part) => part !== undefined);
  const takesText = [schema, ...variantsOf(schema)].some((each) => typesOf(each).includes('string'));
  return (
    <div className="duration-field" data-path={path.join('.')}>
      <Field
        label={label}
        hint={parts.length === 0 ? undefined : parts.join('. ')}
        error={error}
        isRequired={isRequired}
      >
        {(control) => (
          <div className="duration-row">
            {takesText ? (
              <VariableInput
                attributes={attributesOf(control)}
                value={current.text}
                onChange={(text) => enter(text, unit)}
              />
            ) : (
              <input
                className="control"
                inputMode="decimal"
                value={current.text}
                onChange={({ target }) => enter(target.value, unit)}
                {...control}
              />
            )}
            <select
              className="control"
              aria-label={`Unit of ${label}`}
              value={unit}
              disabled={!isNumber && current.text.trim() !== ''}
              onChange={({ target }) => enter(current.text, target.value as TimeUnit)}
            >
              {TIME_UNITS.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
    </div>
  );
}

function shownAs(stored: unknown): { text: string; unit: TimeUnit } {
  if (typeof stored === 'number') {
    const unit = unitOf(stored);
    return { text: String(stored / secondsOf(unit)), unit };
  }
  return { text: typeof stored === 'string' ? stored : '', unit: 'seconds' };
}

/** A text that is no number, such as a variable, stays as it is, and the service checks it. */
function toSeconds(text: string, unit: TimeUnit): number | string | undefined {
  const number = parseNumber(text);
  return typeof number === 'number' ? Number((number * secondsOf(unit)).toPrecision(12)) : number;
}

function isSame(seconds: number | string | undefined, value: unknown): boolean {
  return seconds === (value ?? undefined) || (typeof value === 'string' && seconds === parseNumber(value));
}
