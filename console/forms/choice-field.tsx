import { asArray } from '../graph/json.js';
import { SelectField } from '../ui/select-field.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';

/** One of the schema's values; a value that is none of them is kept, and shown. */
export function ChoiceField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const values = asArray(schema['enum']);
  const current = value === undefined ? schema['default'] : value;
  const at = values.findIndex((each) => each === current);
  const options = values.map((each, index) => ({
    value: typeof each === 'string' ? each : String(index),
    label: toWords(each),
  }));
  const isOther = at < 0;
  const other = { value: '', label: current === undefined || current === null ? 'Choose…' : toWords(current) };
  return (
    <div data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
        value={isOther ? '' : (options[at]?.value ?? '')}
        options={isOther ? [other, ...options] : options}
        onChange={(chosen) => {
          const next = values[options.findIndex((option) => option.value === chosen)];
          if (next !== undefined) onChange(path, next);
        }}
      />
    </div>
  );
}

/** `streamable_http` -> `streamable http`; signs stay as they are. */
function toWords(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);
}
