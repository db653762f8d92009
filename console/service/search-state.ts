import { useEffect, useEffectEvent, useState } from 'react';
import { useSearchParams } from 'wouter';

interface SearchState {
  /** The value in the address, or an empty text. */
  get: (name: string) => string;
  /** A page number in the address; 1 where there is none. */
  page: number;
  /**
   * Changes these values; an empty text removes one. Each change leads back to the first page of the list. When a
   * change is a step, the back button takes it back.
   */
  set: (changes: Readonly<Record<string, string>>, how?: { isStep: boolean }) => void;
}

/** Filters of a page, in its address: they survive a reload, and can be sent to somebody. */
export function useSearchState(): SearchState {
  const [search, setSearch] = useSearchParams();
  return {
    get: (name) => search.get(name) ?? '',
    page: toPage(search.get('page')),
    set: (changes, { isStep } = { isStep: false }) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete('page');
          for (const [name, value] of Object.entries(changes)) {
            if (value === '') next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: !isStep },
      ),
  };
}

function toPage(text: string | null): number {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
}

const PAUSE_MS = 300;

/** A text that is being typed: `settle` gets it once there is a pause. `settled` is what stands in the address. */
export function useTyped(settled: string, settle: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(settled);
  const [last, setLast] = useState(settled);
  // The address was changed by something else: the back button, or a button that clears the filters.
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
