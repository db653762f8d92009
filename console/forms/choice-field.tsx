import { asArray } from '../drawing/json.js';
import type { SchemaFieldProps } from './field-props.js';
import { SchemaSelect } from './schema-select.js';

/** One of the schema's values; a value that is none of them is kept, and shown. */
export function ChoiceField(props: SchemaFieldProps) {
  const { schema, path, value, onChange } = props;
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
    <SchemaSelect
      field={props}
      value={isOther ? '' : (options[at]?.value ?? '')}
      options={isOther ? [other, ...options] : options}
      onChoose={(chosen) => {
        const next = values[options.findIndex((option) => option.value === chosen)];
        if (next !== undefined) onChange(path, next);
      }}
    />
  );
}

/** `streamable_http` -> `streamable http`; signs stay as they are. */
function toWords(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);
}
