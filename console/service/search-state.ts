import { useEffect, useEffectEvent, useState } from 'react';
import { useSearchParams } from 'wouter';

interface SearchState {
  /** Returns '' if the address lacks the value. */
  get: (name: string) => string;
  /** Page number from the address, 1 by default. */
  page: number;
  /**
   * Sets the values; an empty text removes one. Resets the page number unless `changes` has a `page`. If `isStep` is
   * true, the back button undoes the change.
   */
  set: (changes: Readonly<Record<string, string>>, how?: { isStep: boolean }) => void;
}

/** Filters of a page, stored in its address so that they survive a reload and can be shared. */
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

/** Debounces typing: calls `settle` with the trimmed text after a pause. `settled` is the text that is in effect. */
export function useTyped(settled: string, settle: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(settled);
  const [last, setLast] = useState(settled);
  // If something other than typing has changed `settled`, such as the back button, the field shows the new text.
  if (settled !== last) {
    setLast(settled);
    if (settled !== typed.trim()) setTyped(settled);
  }
  const onSettle = useEffectEvent(settle);
  useEffect(() => {
    if (typed.trim() === settled) return undefined;
    const timer = setTimeout(() => onSettle(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, settled]);
  return [typed, setTyped];
}
