// The commands of the dialog `Go to`, besides opening workflows and runs.
import { ADDRESSES, PLACES } from '../service/addresses.js';
import { chooseTheme, THEMES } from '../service/theme.js';

export interface Command {
  name: string;
  act: () => void;
}

export interface Place {
  name: string;
  to: string;
}

const SETTINGS: readonly { tab: string; name: string; isOfService?: boolean }[] = [
  { tab: 'members', name: 'Members' },
  { tab: 'provider-keys', name: 'Provider keys' },
  { tab: 'connections', name: 'Connections' },
  { tab: 'services', name: 'Services' },
  { tab: 'webhooks', name: 'Webhooks' },
  { tab: 'files', name: 'Files' },
  { tab: 'starts', name: 'Schedules and hooks' },
  { tab: 'pools', name: 'Pools', isOfService: true },
  { tab: 'audit', name: 'Audit' },
  { tab: 'api-keys', name: 'API keys' },
  { tab: 'sessions', name: 'Sessions' },
  { tab: 'password', name: 'Password' },
  { tab: 'users', name: 'Users', isOfService: true },
  { tab: 'service-audit', name: 'Audit of the service', isOfService: true },
];

/** Returns the pages whose names contain the text. Pages of the settings are found by typing only. */
export function placesFor(text: string, isAdmin: boolean): Place[] {
  if (text === '') return [...PLACES];
  const settings = SETTINGS.filter(({ isOfService }) => isAdmin || isOfService !== true).map(({ tab, name }) => ({
    name: `Settings: ${name}`,
    to: `${ADDRESSES.settings}?tab=${tab}`,
  }));
  const makers = ['workflow', 'project'].map((what) => ({
    name: `New ${what}`,
    to: `${ADDRESSES.workflows}?new=${what}`,
  }));
  return [...PLACES, ...makers, ...settings].filter(({ name }) => contains(name, text));
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

function contains(name: string, text: string): boolean {
  return name.toLowerCase().includes(text.toLowerCase());
}
