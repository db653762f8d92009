import { useId, type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import './fields.css';

interface FieldProps {
  label: string;
  /** A remark that the label does not make. */
  hint?: ReactNode;
  /** The problem of the value: the service's sentence of `fieldErrors`, for example. */
  error?: string | undefined;
  isRequired?: boolean | undefined;
}

/** The properties of a field's control. */
export interface ControlProps {
  id: string;
  required: boolean;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** A label above its control, the hint and the error below. Screen readers read both with the control. */
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
      <label className="field-label" id={labelIdOf(id)} htmlFor={id}>
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

/** Returns the id of the label of a control, for controls that the browser does not count as such. */
export function labelIdOf(controlId: string): string {
  return `${controlId}label`;
}

type Given = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoComplete' | 'disabled' | 'inputMode' | 'maxLength' | 'name' | 'placeholder' | 'spellCheck'
>;

interface TextFieldProps extends FieldProps, Given {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'datetime-local';
  /** More than one row makes it a field of several lines. */
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

export interface SelectOption {
  value: string;
  label: string;
}

interface SelectFieldProps extends FieldProps {
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

/**
 * An address may name a value that is not among the choices, or not yet. Then this value is shown, and not the first
 * choice.
 */
function withChosen(options: readonly SelectOption[], value: string): readonly SelectOption[] {
  return value === '' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];
}

interface CheckboxFieldProps extends FieldProps {
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

interface SearchFieldProps {
  /** The accessible name, such as `Search workflows`. */
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The searchbox of a page. The key `/` leads to it. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <input
      type="search"
      className="control search-field"
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

interface HintProps {
  id?: string;
  children: ReactNode;
}

/** A remark that a label does not make. Words between backquotes are code. */
export function Hint({ id, children }: HintProps) {
  return (
    <p className="field-hint" id={id}>
      {typeof children === 'string' ? <WithCode text={children} /> : children}
    </p>
  );
}

/** A text in which words between backquotes are code. A backquote without a second one stays what it is. */
export function WithCode({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((part, at) => (at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part));
}
