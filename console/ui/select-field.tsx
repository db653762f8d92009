import { Field, type FieldProps } from './field.js';

export interface SelectOption {
  value: string;
  label: string;
}

export interface SelectFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  options: readonly SelectOption[];
  disabled?: boolean;
}

/** A native combobox, which phones show in their own way. */
export function SelectField(props: SelectFieldProps) {
  const { label, hint, error, isRequired, value, onChange, options, disabled } = props;
  return (
    <Field label={label} hint={hint} error={error} isRequired={isRequired}>
      {(control) => (
        <select
          className="control"
          value={value}
          onChange={({ target }) => onChange(target.value)}
          disabled={disabled}
          {...control}
        >
          {withChosen(options, value).map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** An address may name a value that is not, or not yet, among the choices: then it is shown, and not the first choice. */
function withChosen(options: readonly SelectOption[], value: string): readonly SelectOption[] {
  return value === '' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];
}
