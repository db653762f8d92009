import { FileField } from '../../files/file-field.js';
import { CheckboxField, SelectField, TextField } from '../../ui/fields.js';
import { takesFiles, type RunField } from './run-input.js';

interface RunFieldProps {
  field: RunField;
  projectId: number;
  error?: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

export function RunFieldControl({ field, projectId, error, value, onChange }: RunFieldProps) {
  const { title, hint, isRequired, placeholder, type, options, isSecret } = field;
  const common = { label: title, hint, isRequired, error };
  if (type === 'checkbox' || type === 'boolean') {
    return (
      <CheckboxField {...common} isChecked={value === 'true'} onChange={(isChecked) => onChange(String(isChecked))} />
    );
  }
  if (takesFiles(field)) {
    return <FileField {...common} {...{ projectId, value, onChange }} isMany={type === 'files'} />;
  }
  if (options.length > 0) {
    const isKnown = options.some((option) => option.value === value);
    const choices = isKnown && isRequired ? options : [{ value: '', label: 'Choose…' }, ...options];
    return <SelectField {...common} value={isKnown ? value : ''} options={choices} onChange={onChange} />;
  }
  return (
    <TextField
      {...common}
      placeholder={placeholder}
      type={isSecret ? 'password' : 'text'}
      autoComplete="off"
      inputMode={type === 'number' ? 'decimal' : 'text'}
      rows={type === 'textarea' || type === 'json' ? 4 : 1}
      value={value}
      onChange={onChange}
    />
  );
}
