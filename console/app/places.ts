// The pages that the dialog `Go to` finds.
import type { components } from '../../clients/typescript/src/index.js';
import { ADDRESSES, PLACES } from '../service/addresses.js';

type Role = components['schemas']['Role'];

interface Place {
  name: string;
  to: string;
}

/** A tab with `minimum` is shown only to people with at least this role in the project. */
const SETTINGS: readonly { tab: string; name: string; isOfService?: boolean; minimum?: Role }[] = [
  { tab: 'members', name: 'Members' },
  { tab: 'provider-keys', name: 'Provider keys' },
  { tab: 'connections', name: 'Connections', minimum: 'editor' },
  { tab: 'services', name: 'Services' },
  { tab: 'webhooks', name: 'Webhooks' },
  { tab: 'files', name: 'Files' },
  { tab: 'starts', name: 'Schedules and hooks' },
  { tab: 'pools', name: 'Pools', isOfService: true },
  { tab: 'audit', name: 'Audit', minimum: 'admin' },
  { tab: 'api-keys', name: 'API keys' },
  { tab: 'sessions', name: 'Sessions' },
  { tab: 'password', name: 'Password' },
  { tab: 'users', name: 'Users', isOfService: true },
  { tab: 'service-audit', name: 'Audit of the service', isOfService: true },
];

interface Rights {
  /** True for an administrator of the service. */
  isAdmin: boolean;
  /** Returns true if the person has at least this role in the project that the settings show first. */
  may: (role: Role) => boolean;
}

/** Returns the pages whose names contain the text; for an empty text, only those of the navigation. */
export function placesFor(text: string, { isAdmin, may }: Rights): Place[] {
  if (text === '') return [...PLACES];
  const settings = SETTINGS.filter(({ isOfService }) => isAdmin || isOfService !== true)
    .filter(({ minimum }) => minimum === undefined || may(minimum))
    .map(({ tab, name }) => ({ name: `Settings: ${name}`, to: `${ADDRESSES.settings}?tab=${tab}` }));
  const makers = ['workflow', 'project'].map((what) => ({
    name: `New ${what}`,
    to: `${ADDRESSES.workflows}?new=${what}`,
  }));
  return [...PLACES, ...makers, ...settings].filter(({ name }) => contains(name, text));
}

export function contains(name: string, text: string): boolean {
  return name.toLowerCase().includes(text.toLowerCase());
}
