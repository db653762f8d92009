import { useId, type ReactNode } from 'react';
import './field.css';
import { Hint } from './hint.js';

export interface FieldProps {
  label: string;
  /** What the label does not say. */
  hint?: ReactNode;
  /** What is wrong with the value; the service's sentence of `fieldErrors`, for example. */
  error?: string | undefined;
  isRequired?: boolean | undefined;
}

/** What the control of a field gets. */
export interface ControlProps {
  id: string;
  required: boolean;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** A label above its control, the hint and the error below: both are told to screen readers with the control. */
export function Field({
  label,
  hint,
  error,
  isRequired = false,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const [hintId, errorId] = [`${id}hint`, `${id}error`];
  const described = [hint !== undefined && hintId, error !== undefined && errorId].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        required: isRequired,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && <Hint id={hintId}>{hint}</Hint>}
      {error !== undefined && (
        <p className="field-error" id={errorId}>
          {error}
        </p>
      )}
    </div>
  );
}
