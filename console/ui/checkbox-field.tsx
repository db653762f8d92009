import { useId } from 'react';
import type { FieldProps } from './field.js';
import './field.css';
import { Hint } from './hint.js';

export interface CheckboxFieldProps extends FieldProps {
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  disabled?: boolean;
}

export function CheckboxField({ label, hint, error, isChecked, onChange, disabled }: CheckboxFieldProps) {
  const id = useId();
  const [hintId, errorId] = [`${id}hint`, `${id}error`];
  const described = [hint !== undefined && hintId, error !== undefined && errorId].filter(Boolean).join(' ');
  return (
    <div className="checkbox-field">
      <input
        type="checkbox"
        className="checkbox-field-box"
        id={id}
        checked={isChecked}
        onChange={({ target }) => onChange(target.checked)}
        disabled={disabled}
        aria-describedby={described === '' ? undefined : described}
        aria-invalid={error === undefined ? undefined : true}
      />
      <label className="checkbox-field-label" htmlFor={id}>
        {label}
      </label>
      {hint !== undefined && <Hint id={hintId}>{hint}</Hint>}
      {error !== undefined && (
        <p className="field-error" id={errorId}>
          {error}
        </p>
      )}
    </div>
  );
}
