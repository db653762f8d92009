import { useState } from 'react';
import { TextField } from '../../ui/fields.js';
import { isDay } from './span.js';

interface DayFieldProps {
  label: string;
  /** YYYY-MM-DD. */
  value: string;
  /** Whole days only: while a year is being typed, browsers tell of the year 2 and the year 20, too. */
  onChange: (day: string) => void;
  error: string | undefined;
}

export function DayField({ label, value, onChange, error }: DayFieldProps) {
  const [typed, setTyped] = useState(value);
  const [last, setLast] = useState(value);
  if (value !== last) {
    setLast(value);
    setTyped(value);
  }
  const take = (text: string): void => {
    setTyped(text);
    if (isDay(text)) onChange(text);
  };
  return <TextField label={label} type="date" value={typed} onChange={take} error={error} />;
}
