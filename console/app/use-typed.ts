import { useEffect, useEffectEvent, useState } from 'react';

const PAUSE_MS = 300;

/** A text that is being typed: `settle` gets it once there is a pause. `settled` is what stands in the address. */
export function useTyped(settled: string, settle: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(settled);
  const [last, setLast] = useState(settled);
  // The address was changed from elsewhere: by the back button, or by clearing the filters.
  if (settled !== last) {
    setLast(settled);
    if (settled !== typed.trim()) setTyped(settled);
  }
  const tell = useEffectEvent(settle);
  useEffect(() => {
    if (typed.trim() === settled) return undefined;
    const timer = setTimeout(() => tell(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, settled]);
  return [typed, setTyped];
}
