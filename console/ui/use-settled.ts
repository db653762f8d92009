import { useEffect, useState } from 'react';
import { parseExact } from './json.js';

const PAUSE_MS = 500;

/** Debounces a JSON value: returns the old value until changes pause for `pauseMs`. */
export function useSettled<Value>(value: Value, pauseMs = PAUSE_MS): Value {
  const text = JSON.stringify(value) ?? '';
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs]);
  return settled === text ? value : ((settled === '' ? undefined : parseExact(settled)) as Value);
}
