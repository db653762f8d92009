// The actions of the dialog `Go to`. places.ts has its pages.
import { chooseTheme, THEMES } from '../service/theme.js';
import { contains } from './places.js';

export interface Command {
  name: string;
  act: () => void;
}

/** Returns the buttons of the page behind the dialog, and the themes, whose names contain the text. */
export function commandsFor(text: string, buttons: readonly HTMLButtonElement[]): Command[] {
  const ofPage = buttons.map((button) => ({ name: nameOf(button), act: () => press(button) }));
  const themes = THEMES.map(({ value, label }) => ({ name: `Theme: ${label}`, act: () => chooseTheme(value) }));
  return [...ofPage, ...(text === '' ? [] : themes)].filter(({ name }) => name !== '' && contains(name, text));
}

/** Returns the enabled buttons in the parts of the page that hold its actions (`data-commands`). */
export function buttonsOfPage(): HTMLButtonElement[] {
  return [...document.querySelectorAll<HTMLButtonElement>('main [data-commands] button')].filter(
    (button) => !button.disabled && button.offsetParent !== null,
  );
}

function nameOf(button: HTMLButtonElement): string {
  return (button.getAttribute('aria-label') ?? button.textContent ?? '').trim();
}

/** A button that opens a menu listens to keys, not to clicks. */
function press(button: HTMLButtonElement): void {
  button.focus();
  if (button.getAttribute('aria-haspopup') !== 'menu') button.click();
  else button.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
}
