// How senders sign, in the words of who sets them up.
import type { Hook, HookBody } from './use-hooks.js';

export const GITHUB_HEADER = 'X-Hub-Signature-256';
const STRIPE_HEADER = 'Stripe-Signature';

/** One entry of the combobox: two of them are the same scheme with a header of their own. */
export type Signature = 'standard-webhooks' | 'github' | 'stripe' | 'hmac-sha256' | 'none';

export const SIGNATURES: readonly { value: Signature; label: string; hint: string }[] = [
  {
    value: 'standard-webhooks',
    label: 'Standard Webhooks',
    hint: 'Many services sign like this: OpenAI, Svix, and this one.',
  },
  { value: 'github', label: 'GitHub', hint: `HMAC-SHA256 in the header ${GITHUB_HEADER}.` },
  {
    value: 'stripe',
    label: 'Stripe',
    hint: 'Stripe makes the secret itself, and shows it once it knows the URL.',
  },
  {
    value: 'hmac-sha256',
    label: 'HMAC-SHA256 in another header',
    hint: 'The value is sha256= and hexadecimal digits.',
  },
  {
    value: 'none',
    label: 'None',
    hint: 'Whoever knows the URL can start runs. Choose this only where nothing else works.',
  },
];

export interface HookFields {
  signature: Signature;
  header: string;
  secret: string;
}

export const NEW_HOOK: HookFields = { signature: 'standard-webhooks', header: GITHUB_HEADER, secret: '' };

export function toBody({ signature, header, secret }: HookFields): HookBody {
  const own = secret === '' ? {} : { secret };
  if (signature === 'none') return { verify: 'none' };
  if (signature === 'standard-webhooks') return { verify: 'standard-webhooks', ...own };
  const named: Partial<Record<Signature, string>> = { github: GITHUB_HEADER, stripe: STRIPE_HEADER };
  return { verify: 'hmac-sha256', header: named[signature] ?? header, ...own };
}

/** `Signed by GitHub`. */
export function signatureOf({ verify, header }: Pick<Hook, 'verify' | 'header'>): string {
  if (verify === 'none') return 'Not signed';
  if (verify === 'standard-webhooks') return 'Signed as Standard Webhooks';
  const name = header?.toLowerCase();
  if (name === GITHUB_HEADER.toLowerCase()) return 'Signed as GitHub does';
  if (name === STRIPE_HEADER.toLowerCase()) return 'Signed as Stripe does';
  return `Signed by HMAC-SHA256 in ${header}`;
}

const OUTCOMES: Partial<Record<number, string>> = {
  202: 'started a run, or was known already',
  400: 'refused: its body cannot be read as text',
  401: 'refused: its signature was missing, wrong or too old',
  403: 'refused: the author may not run the workflow',
  422: 'refused: the workflow does not take its input',
};

export function outcomeOf(status: number): string {
  return OUTCOMES[status] ?? `answered with ${status}`;
}
