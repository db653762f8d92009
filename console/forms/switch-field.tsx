import { CheckboxField } from '../ui/fields.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';

export function SwitchField({ schema, path, label, value, onChange }: SchemaFieldProps) {
  const error = useFieldError(path);
  const isChecked = typeof value === 'boolean' ? value : schema['default'] === true;
  return (
    <div data-path={path.join('.')}>
      <CheckboxField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isChecked={isChecked}
        onChange={(next) => onChange(path, next)}
      />
    </div>
  );
}
