import type { InputHTMLAttributes, KeyboardEvent, Ref } from 'react';
import { Field, type FieldProps } from './field.js';

type Given = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoComplete' | 'disabled' | 'inputMode' | 'maxLength' | 'name' | 'placeholder' | 'spellCheck'
>;

export interface TextFieldProps extends FieldProps, Given {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'datetime-local';
  /** More than one: a field of several lines. */
  rows?: number;
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
  ref?: Ref<HTMLInputElement>;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, isRequired, value, onChange, type = 'text', rows = 1, ref, ...given } = props;
  return (
    <Field label={label} hint={hint} error={error} isRequired={isRequired}>
      {(control) =>
        rows > 1 ? (
          <textarea
            className="control"
            rows={rows}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            {...given}
            {...control}
          />
        ) : (
          <input
            className="control"
            type={type}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            ref={ref}
            {...given}
            {...control}
          />
        )
      }
    </Field>
  );
}
