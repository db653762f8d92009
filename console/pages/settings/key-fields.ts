// Converts an API key to the fields of its form, and these to the body of a request.

export type KeyScope = 'full' | 'run' | 'read';

export interface KeyFields {
  label: string;
  /** Local time such as `2030-01-31T12:00`; empty means never. */
  expires: string;
  /** Project id; empty means all projects. */
  project: string;
  scope: KeyScope;
  /** Requests per minute; empty means the default. */
  rateLimit: string;
}

export interface KeyBody {
  label?: string;
  project?: number | null;
  scope?: KeyScope;
  expires_at?: string | null;
  rate_limit?: number | null;
}

interface Key {
  label: string;
  expires_at: string | null;
  project: number | null;
  scope: KeyScope;
  rate_limit: number | null;
}

export const NEW_KEY: KeyFields = { label: '', expires: '', project: '', scope: 'full', rateLimit: '' };

export function toFields({ label, expires_at, project, scope, rate_limit }: Key): KeyFields {
  return {
    label,
    expires: expires_at === null ? '' : toLocalTime(new Date(expires_at)),
    project: project === null ? '' : String(project),
    scope,
    rateLimit: rate_limit === null ? '' : String(rate_limit),
  };
}

/** Returns only changed fields, because the service refuses some unchanged values, such as an expiry in the past. */
export function toBody(before: KeyFields, now: KeyFields): KeyBody {
  return {
    ...(now.label !== before.label && { label: now.label }),
    ...(now.expires !== before.expires && { expires_at: toMoment(now.expires) }),
    ...(now.project !== before.project && { project: toNumber(now.project) }),
    ...(now.scope !== before.scope && { scope: now.scope }),
    ...(now.rateLimit !== before.rateLimit && { rate_limit: toNumber(now.rateLimit) }),
  };
}

/** Sends invalid text as it is, so that the service explains the error. */
function toMoment(text: string): string | null {
  if (text === '') return null;
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString();
}

/** Sends invalid text as it is: JSON would turn `NaN` into null, which means the default rate, or all projects. */
function toNumber(text: string): number | null {
  if (text.trim() === '') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : (text as unknown as number);
}

function toLocalTime(moment: Date): string {
  const pad = (number: number, length = 2): string => String(number).padStart(length, '0');
  const day = `${pad(moment.getFullYear(), 4)}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
  return `${day}T${pad(moment.getHours())}:${pad(moment.getMinutes())}`;
}

export const SCOPES: Record<KeyScope, string> = {
  full: 'Do everything that you can',
  run: 'Run workflows, answer what runs ask',
  read: 'Read',
};
