import { createSignInLink } from '../../db/sessions/sign-in-links-repository.js';
import { toConsoleUrl } from '../embedded/console-url.js';
import { requireUser } from './accounts.js';
import { AdminError, type AdminContext } from './context.js';
import { recorded } from './recorded.js';

/**
 * Returns a link that signs the user in, once and within ten minutes. The default user is that of the running stack.
 */
export async function makeConsoleLink(context: AdminContext, user?: number): Promise<object> {
  const id = user ?? context.localUserId;
  if (id === undefined) throw new AdminError('--user: must be given where no stack of npm start runs.');
  const { is_active: isActive } = await requireUser(context, id);
  if (!isActive) throw new AdminError(`User ${id} is not active.`);
  // Without a secret the API would refuse the link, so this throws first.
  context.jwtSecret();
  const link = { action: 'sign_in_link.created', type: 'user', keyOf: () => ({ id }) } as const;
  const token = await recorded(context, link, (trx) => createSignInLink(trx, id));
  return { url: toConsoleUrl(context.publicUrl, token) };
}
