import type { Entries } from './drafts.js';

/** Returns `localStorage`, or an empty store if the browser blocks it. */
export function browserEntries(): Entries {
  try {
    return localStorage;
  } catch {
    return { length: 0, key: () => null, getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  }
}
