// Makes links to the bytes of a file, for people without credentials. A link is a sealed text, so nothing is stored for
// it.
import { z } from 'zod';
import type { SecretBox } from '../../db/core/secret-box.js';
import { ApiError } from '../http/errors.js';

const contents = z.object({ file: z.uuid(), until: z.int() });
const LONGEST = 400;

export function makeLink(secretBox: SecretBox, fileId: string, seconds: number): string {
  const facts: z.infer<typeof contents> = { file: fileId, until: Date.now() + seconds * 1000 };
  return secretBox.seal(JSON.stringify(facts), 'file-link').toString('base64url');
}

/** Throws 403 for a link that this service has not made, or that has expired. */
export function openLink(secretBox: SecretBox, token: string): string {
  const { success, data } = contents.safeParse(unseal(secretBox, token));
  if (!success) throw new ApiError(403, 'link_invalid', 'This service did not make the link.');
  if (data.until <= Date.now()) throw new ApiError(403, 'link_expired', 'The link has expired.');
  return data.file;
}

function unseal(secretBox: SecretBox, token: string): unknown {
  if (token.length > LONGEST || !/^[\w-]+$/.test(token)) return undefined;
  try {
    return JSON.parse(secretBox.open(Buffer.from(token, 'base64url'), 'file-link'));
  } catch {
    return undefined;
  }
}
