import { useId, type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import './fields.css';

interface FieldProps {
  label: string;
  /** Adds to the label; must not repeat it. */
  hint?: ReactNode;
  /** Error of the value, for example from `fieldErrors`. */
  error?: string | undefined;
  isRequired?: boolean | undefined;
}

export interface ControlProps {
  id: string;
  required: boolean;
  'aria-required': true | undefined;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** A label above its control; below, the hint and the error, linked to the control for screen readers. */
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
      <FieldHead isRequired={isRequired}>
        <label className="field-label" id={labelIdOf(id)} htmlFor={id}>
          {label}
        </label>
      </FieldHead>
      {children({
        id,
        required: isRequired,
        'aria-required': isRequired || undefined,
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

interface FieldHeadProps {
  isRequired: boolean;
  /** The label. */
  children: ReactNode;
}

/** A label and, for a required field, its mark. The mark is no part of the label, which names the control. */
export function FieldHead({ isRequired, children }: FieldHeadProps) {
  return (
    <div className="field-head">
      {children}
      {isRequired && <RequiredMark />}
    </div>
  );
}

/** The mark of a required field, also for labels without `FieldHead`. Screen readers read `aria-required` instead. */
export function RequiredMark() {
  return (
    <span className="field-mark" aria-hidden="true" title="Required">
      *
    </span>
  );
}

/** Returns the id of a control's label, for `aria-labelledby` of controls that are not form elements. */
export function labelIdOf(controlId: string): string {
  return `${controlId}label`;
}

type Attributes = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoComplete' | 'disabled' | 'inputMode' | 'maxLength' | 'name' | 'placeholder' | 'spellCheck'
>;

interface TextFieldProps extends FieldProps, Attributes {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'time' | 'datetime-local';
  /** More than one row renders a textarea. */
  rows?: number;
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
  ref?: Ref<HTMLInputElement>;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, isRequired, value, onChange, type = 'text', rows = 1, ref, ...attributes } = props;
  return (
    <Field label={label} hint={hint} error={error} isRequired={isRequired}>
      {(control) =>
        rows > 1 ? (
          <textarea
            className="control"
            rows={rows}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            {...attributes}
            {...control}
          />
        ) : (
          <input
            className="control"
            type={type}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            ref={ref}
            {...attributes}
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

/** A native select, for which phones have their own display. */
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
 * Adds an unknown value to the options, for example from an address. Otherwise the browser would show the first option.
 */
function withChosen(options: readonly SelectOption[], value: string): readonly SelectOption[] {
  return value === '' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];
}

interface CheckboxFieldProps extends Omit<FieldProps, 'label'> {
  label: ReactNode;
  isChecked: boolean;
  /** True if the box stands for several values of which only some are set. */
  isMixed?: boolean;
  onChange: (isChecked: boolean) => void;
  disabled?: boolean;
}

export function CheckboxField(props: CheckboxFieldProps) {
  const { label, hint, error, isRequired = false, isChecked, isMixed = false, onChange, disabled } = props;
  const id = useId();
  const [hintId, errorId] = [`${id}hint`, `${id}error`];
  const described = [hint !== undefined && hintId, error !== undefined && errorId].filter(Boolean).join(' ');
  return (
    <div className="checkbox-field">
      <input
        type="checkbox"
        className="checkbox-field-box"
        id={id}
        ref={(box) => {
          if (box !== null) box.indeterminate = isMixed;
        }}
        checked={isChecked}
        onChange={({ target }) => onChange(target.checked)}
        disabled={disabled}
        aria-describedby={described === '' ? undefined : described}
        aria-invalid={error === undefined ? undefined : true}
        aria-required={isRequired || undefined}
      />
      <FieldHead isRequired={isRequired}>
        <label className="checkbox-field-label" htmlFor={id}>
          {label}
        </label>
      </FieldHead>
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
  /** Accessible name, such as `Search workflows`. */
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The search field of a page. The key `/` focuses it. */
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

/** A remark. Text between backquotes is shown as code. */
export function Hint({ id, children }: HintProps) {
  return (
    <p className="field-hint" id={id}>
      {typeof children === 'string' ? <WithCode text={children} /> : children}
    </p>
  );
}

/** Shows text between backquotes as code. An unpaired backquote stays as it is. */
export function WithCode({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((part, at) => (at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part));
}
