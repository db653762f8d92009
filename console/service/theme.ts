// The colours that the person has chosen for this browser. See console/ui/theme.css.
import { createStore, useStored } from '../ui/store.js';
import { browserEntries } from './browser-entries.js';

export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

const KEY = 'theme';

const theme = createStore<Theme>(toTheme(browserEntries().getItem(KEY)));

/** Called before the first page is drawn, so that it has the chosen colours at once. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.getState();
}

export function chooseTheme(chosen: Theme): void {
  theme.setState(chosen);
  applyTheme();
  try {
    browserEntries().setItem(KEY, chosen);
  } catch {
    // The store is full. The theme holds until the page closes.
  }
}

export function useTheme(): Theme {
  return useStored(theme, (state) => state);
}

function toTheme(text: string | null): Theme {
  return THEMES.find(({ value }) => value === text)?.value ?? 'system';
}
