import { useEffect, useState } from 'react';
import { parseExact } from '../../../ui/json.js';

const PAUSE_MS = 500;

/** Debounces a JSON value: returns the old value until changes pause for `PAUSE_MS`. */
export function useSettled<Value>(value: Value): Value {
  const text = JSON.stringify(value) ?? '';
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled === text ? value : ((settled === '' ? undefined : parseExact(settled)) as Value);
}
