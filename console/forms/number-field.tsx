import { useState } from 'react';
import { TextField } from '../ui/fields.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { parseNumber } from './parse-number.js';
import { descriptionOf } from './schema.js';

/** Anything can be written; what is no number stays a text, for example a variable, and the checks judge it. */
export function NumberField({ schema, path, label, value, isRequired = false, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const shown = value === undefined || value === null ? '' : toText(value);
  const [written, setWritten] = useState(shown);
  // `1.` and `1.0` are on the way to other numbers: what is written stays as long as it means the value.
  const text = String(parseNumber(written) ?? '') === shown ? written : shown;
  const fallback = schema['default'];
  const parts = [descriptionOf(schema), fallback === undefined ? undefined : `${toText(fallback)} unless set`];
  const hint = parts.filter((part) => part !== undefined).join('; ');
  return (
    <div data-path={path.join('.')}>
      <TextField
        label={label}
        hint={hint === '' ? undefined : hint}
        error={error}
        isRequired={isRequired}
        inputMode="decimal"
        value={text}
        onChange={(next) => {
          setWritten(next);
          onChange(path, parseNumber(next));
        }}
      />
    </div>
  );
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
