import { useState } from 'react';
import { isSameJson } from '../drawing/json.js';
import { fromJsonText, toJsonText } from './json-text.js';

interface RecordValueProps {
  label: string;
  value: unknown;
  /** The values are texts; otherwise they are any JSON. */
  isText: boolean;
  isWrong: boolean;
  onChange: (value: unknown) => void;
}

/** The value of one name. What is no JSON is a text, as variables are. */
export function RecordValue({ label, value, isText, isWrong, onChange }: RecordValueProps) {
  const shown = shownAs(value, isText);
  const [written, setWritten] = useState(shown);
  // `1.0` is on the way to another number: what is written stays as long as it means the value.
  const text = !isText && isSameJson(toValue(written), value) ? written : shown;
  return (
    <textarea
      className="control form-text"
      rows={1}
      aria-label={label}
      aria-invalid={isWrong || undefined}
      placeholder="Value"
      data-variables
      spellCheck={false}
      value={text}
      onChange={({ target }) => {
        setWritten(target.value);
        onChange(isText ? target.value : toValue(target.value));
      }}
    />
  );
}

function shownAs(value: unknown, isText: boolean): string {
  if (isText) return typeof value === 'string' ? value : JSON.stringify(value);
  return value === '' ? '' : toJsonText(value);
}

function toValue(text: string): unknown {
  return fromJsonText(text) ?? (text.trim() === '' ? text : null);
}
