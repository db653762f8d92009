// Creates connections and signs in for them, as an owner does in a browser.
import { createApiClient } from '../../../harness/client/api-client.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import type { TokenProvider } from '../../support/token-provider.js';
import { openSession, type Account } from '../accounts.js';

export interface ConnectionBody {
  id: number;
  name: string;
  status: string;
  status_reason: string | null;
  account: string | null;
  expires_at: string | null;
  used_by: number;
  secrets: Record<string, unknown>;
  origins: string[];
  settings: Record<string, unknown>;
}

/** Returns the connection's id. */
export async function createConnection(account: Account, projectId: number, body: object): Promise<number> {
  const made = await account.api.post<ConnectionBody>(`/projects/${projectId}/connections/`, { body });
  if (made.status !== 201) throw new Error(`the connection was not made: ${JSON.stringify(made.body)}`);
  return made.body.id;
}

export async function readConnection(account: Account, projectId: number, id: number): Promise<ConnectionBody> {
  return (await account.api.get<ConnectionBody>(`/projects/${projectId}/connections/${id}/`)).body;
}

/** Creates a connection of the kind `oauth2` for the provider, without a sign-in. */
export function oauthConnection(account: Account, projectId: number, provider: TokenProvider, name = 'provider') {
  return createConnection(account, projectId, {
    name,
    kind: 'oauth2',
    origins: [provider.url],
    settings: provider.settings,
    secrets: { client_secret: provider.clientSecret },
  });
}

/** Starts a sign-in, follows the provider's pages, and returns the address at which the browser ends. */
export async function signIn(
  stack: TestStack,
  account: Account,
  { projectId, id }: { projectId: number; id: number },
): Promise<URL> {
  const session = createApiClient(stack.apiUrl, await openSession(stack, account));
  const begun = await session.post<{ url: string }>(`/projects/${projectId}/connections/${id}/authorize/`);
  if (begun.status !== 200) throw new Error(`no sign-in began: ${JSON.stringify(begun.body)}`);
  const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
  const page = await fetch(begun.body.url, { redirect: 'manual' });
  const back = new URL(page.headers.get('location') ?? '');
  const end = await fetch(`${stack.apiUrl}${back.pathname}${back.search}`, { redirect: 'manual', headers: { cookie } });
  return new URL(end.headers.get('location') ?? '');
}
