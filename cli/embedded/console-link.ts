import { createDatabase } from '../../db/core/client.js';
import { createSignInLink } from '../../db/sessions/sign-in-links-repository.js';
import { toConsoleUrl } from './console-url.js';
import type { StackFile } from './stack-file.js';

/** A link that signs the local user in, once and within ten minutes. */
export async function makeLocalLink(stack: StackFile, publicUrl: string): Promise<string> {
  const { database_url: url, user_id: userId } = stack;
  const db = createDatabase({ url, poolMax: 1, applicationName: 'supervisor', onError: () => undefined });
  try {
    return toConsoleUrl(publicUrl, await createSignInLink(db, userId));
  } finally {
    await db.destroy();
  }
}
