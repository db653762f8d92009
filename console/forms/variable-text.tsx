import { Field } from '../ui/fields.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { MASK } from '../drawing/drawing.js';
import { descriptionOf, typesOf } from './schema.js';

/** A text that may hold variables; it grows with what is written. */
export function VariableText(props: SchemaFieldProps & { isLong?: boolean }) {
  const { schema, path, label, value, isRequired = false, onChange, isLong = false } = props;
  const error = useFieldError(path);
  const text = value === undefined || value === null ? '' : toText(value);
  const isNullable = typesOf(schema).includes('null');
  const hint =
    text === MASK ? 'A secret is stored here. It is kept until you write another one.' : descriptionOf(schema);
  const change = (written: string): void => {
    const isGone = written === '' && !isRequired;
    onChange(path, isGone ? (isNullable ? null : undefined) : written);
  };
  return (
    <div data-path={path.join('.')}>
      <Field label={label} hint={hint} error={error} isRequired={isRequired}>
        {(control) => (
          <textarea
            className={isLong ? 'control form-text form-text-long' : 'control form-text'}
            rows={isLong ? 4 : 1}
            data-variables
            spellCheck={isLong}
            value={text}
            onChange={({ target }) => change(target.value)}
            {...control}
          />
        )}
      </Field>
    </div>
  );
}

/** Drawings hold numbers where a text may stand, too. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
