import { TextField } from '../../../ui/fields.js';

interface SecretFieldProps {
  /** What becomes of an empty one. */
  ifEmpty?: string;
  value: string;
  onChange: (secret: string) => void;
  error: string | undefined;
  onSubmit: () => void;
}

const MADE = 'a new one is made, and shown once.';

export function SecretField({ ifEmpty = MADE, value, onChange, error, onSubmit }: SecretFieldProps) {
  return (
    <TextField
      label="Secret"
      hint={`One that the sender has already. Empty: ${ifEmpty}`}
      type="password"
      autoComplete="new-password"
      value={value}
      onChange={onChange}
      error={error}
      maxLength={500}
      onKeyDown={({ key }) => key === 'Enter' && onSubmit()}
    />
  );
}
