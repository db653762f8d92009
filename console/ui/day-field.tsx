import { useState } from 'react';
import { isDay } from './day.js';
import { TextField } from './fields.js';

interface DayFieldProps {
  label: string;
  /** YYYY-MM-DD, or empty. */
  value: string;
  /** Called with complete days only: while somebody types the year 2026, browsers report the years 2, 20 and 202. */
  onChange: (day: string) => void;
  /** If true, `onChange` is also called with an empty text once the field is cleared. */
  isOptional?: boolean;
  error?: string | undefined;
}

export function DayField({ label, value, onChange, isOptional = false, error }: DayFieldProps) {
  const [typed, setTyped] = useState(value);
  const [last, setLast] = useState(value);
  if (value !== last) {
    setLast(value);
    setTyped(value);
  }
  const take = (text: string): void => {
    setTyped(text);
    if (isDay(text) || (isOptional && text === '')) onChange(text);
  };
  return <TextField label={label} type="date" value={typed} onChange={take} error={error} />;
}
