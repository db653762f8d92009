import { useRef, useState } from 'react';

interface Action {
  run: () => Promise<void>;
  isRunning: boolean;
  /** Of the last time; undefined when it went well. */
  error: unknown;
}

/** Something that a button does: once at a time, and what fails is kept to be shown. */
export function useAction(act: () => Promise<void>): Action {
  const [isRunning, setIsRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const isOn = useRef(false);
  const run = async (): Promise<void> => {
    if (isOn.current) return;
    isOn.current = true;
    setIsRunning(true);
    setError(undefined);
    try {
      await act();
    } catch (failure) {
      setError(failure);
    } finally {
      isOn.current = false;
      setIsRunning(false);
    }
  };
  return { run, isRunning, error };
}
