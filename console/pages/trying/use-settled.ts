import { useEffect, useState } from 'react';

const PAUSE_MS = 500;

/** Returns the value as it was before somebody began to write, until they pause. Equal JSON is one value. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  const isSettled = text === JSON.stringify(settled);
  useEffect(() => {
    if (isSettled) return undefined;
    const timer = setTimeout(() => setSettled(() => value), PAUSE_MS);
    return () => clearTimeout(timer);
    // Each render has another object of the same value.
  }, [isSettled, text]);
  return settled;
}
