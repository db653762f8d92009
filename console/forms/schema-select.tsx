import { SelectField, type SelectOption } from '../ui/fields.js';
import type { SchemaFieldProps } from './field-props.js';
import { useFieldError } from './form-context.js';
import { descriptionOf } from './schema.js';

interface SchemaSelectProps {
  field: SchemaFieldProps;
  /** Empty: nothing is chosen. */
  value: string;
  options: readonly SelectOption[];
  onChoose: (value: string) => void;
}

/** The choice among values for a field of the form. */
export function SchemaSelect({ field, value, options, onChoose }: SchemaSelectProps) {
  const { schema, path, label, isRequired = false } = field;
  const error = useFieldError(path);
  return (
    <div data-path={path.join('.')}>
      <SelectField
        label={label}
        hint={descriptionOf(schema)}
        error={error}
        isRequired={isRequired}
        value={value}
        options={options}
        onChange={onChoose}
      />
    </div>
  );
}
