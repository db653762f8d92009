import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';

// Signature schemes of senders, and the service calls about hooks.

const GITHUB_HEADER = 'X-Hub-Signature-256';
const STRIPE_HEADER = 'Stripe-Signature';

/** An option of the select. `github` and `stripe` are `hmac-sha256` with a fixed header. */
type Signature = 'standard-webhooks' | 'github' | 'stripe' | 'hmac-sha256' | 'none';

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

/** Returns text such as `Signed as GitHub does`. */
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

const HOOKS = '/api/v1/workflows/{id}/hooks/';
const HOOK = '/api/v1/workflows/{id}/hooks/{hook_id}/';

type Hooks = paths[typeof HOOKS];
export type Hook = Hooks['get']['responses'][200]['content']['application/json']['items'][number];
type HookBody = NonNullable<Hooks['post']['requestBody']>['content']['application/json'];
/** A hook, with its secret if it verifies signatures. */
export type ShownHook = Hooks['post']['responses'][201]['content']['application/json'];

/** A hook with its workflow. The title is undefined on the workflow's own page. */
export interface ListedHook extends Hook {
  workflow: { id: number; title?: string };
}

/** A workflow has at most 20 hooks. */
export function useHooks(workflowId: number): UseQueryResult<Hook[]> {
  return useQuery({
    queryKey: ['hooks', workflowId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(HOOKS, { params: { path: { id: workflowId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

export function makeHook(workflowId: number, body: HookBody): Promise<ShownHook> {
  return unwrap(api.POST(HOOKS, { params: { path: { id: workflowId } }, body }));
}

/** If `secret` is null, the service generates one. */
export function replaceSecret(workflowId: number, hookId: number, secret: string | null): Promise<ShownHook> {
  const path = { id: workflowId, hook_id: hookId };
  return unwrap(api.PATCH(HOOK, { params: { path }, body: { secret } }));
}

export function deleteHook(workflowId: number, hookId: number): Promise<unknown> {
  return unwrap(api.DELETE(HOOK, { params: { path: { id: workflowId, hook_id: hookId } } }));
}

const SIZE = 20;

/** Loads one page of the hooks of all workflows of the project. The first `page` is 1. */
export function useHooksOfProject(projectId: number, page: number) {
  return useQuery({
    queryKey: ['hooks', 'of-project', projectId, page],
    queryFn: ({ signal }) => {
      const params = { path: { id: projectId }, query: { page, size: SIZE } };
      return unwrap(api.GET('/api/v1/projects/{id}/hooks/', { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
