import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FILE = join(import.meta.dirname, 'common-passwords/passwords.txt');
let known: ReadonlySet<string> | undefined;

/**
 * Returns whether the password is one that attackers try first, in any case of its letters. The list has only passwords
 * that are long enough to be taken otherwise; it is read when the first password is set.
 */
function isCommonPassword(password: string): boolean {
  known ??= new Set(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# ')),
  );
  return known.has(password.normalize('NFKC').toLowerCase());
}

/** The least number of characters. Shorter passwords are guessed; no kinds of characters are asked for. */
const MIN_LENGTH = 12;
/** A longer text is no password, but work for whoever compares it. */
export const MAX_PASSWORD_LENGTH = 1024;

/** Returns the mistake of a new password in one sentence; undefined if it has none. */
export function passwordProblem(password: string): string | undefined {
  const length = Array.from(password).length;
  if (length < MIN_LENGTH) return `A password has at least ${MIN_LENGTH} characters.`;
  if (length > MAX_PASSWORD_LENGTH) return `A password has at most ${MAX_PASSWORD_LENGTH} characters.`;
  if (password.trim() === '') return 'A password is more than white space.';
  if (isCommonPassword(password)) return 'This password is one of the most common ones, which are tried first.';
  return undefined;
}

/** A new password in a body. */
export const newPasswordField = z.string().superRefine((password, context) => {
  const message = passwordProblem(password);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
