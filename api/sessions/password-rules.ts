import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { documentedAs } from '../http/documented-as.js';

const FILE = join(import.meta.dirname, 'common-passwords/passwords.txt');
let known: ReadonlySet<string> | undefined;

/**
 * True if attackers try the password first, in any case of its letters. The list has only passwords of at least
 * `MIN_LENGTH` characters, and is read on the first call.
 */
function isCommonPassword(password: string): boolean {
  known ??= new Set(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# ')),
  );
  return known.has(password.normalize('NFKC').toLowerCase());
}

/** Shorter passwords can be guessed; no kinds of characters are required. */
const MIN_LENGTH = 12;
/** Bounds the time to hash a password. */
const MAX_LENGTH = 1024;

/** Returns the reason to refuse a new password, in one sentence; undefined if it is acceptable. */
export function passwordProblem(password: string): string | undefined {
  const length = lengthOf(password);
  if (length < MIN_LENGTH) return `A password has at least ${MIN_LENGTH} characters.`;
  if (length > MAX_LENGTH) return `A password has at most ${MAX_LENGTH} characters.`;
  if (password.trim() === '') return 'A password is more than white space.';
  if (isCommonPassword(password)) return 'This password is one of the most common ones, which are tried first.';
  return undefined;
}

/** Counts code points, as users count most characters. */
function lengthOf(password: string): number {
  return Array.from(password).length;
}

/** A password that is compared with the present one. Every password that `passwordProblem` accepts can be entered. */
export const passwordField = documentedAs(
  z.string().superRefine((password, context) => {
    const issue = { origin: 'string', inclusive: true, input: password } as const;
    if (password === '') context.addIssue({ code: 'too_small', minimum: 1, ...issue });
    if (lengthOf(password) > MAX_LENGTH) context.addIssue({ code: 'too_big', maximum: MAX_LENGTH, ...issue });
  }),
  { type: 'string', minLength: 1, maxLength: MAX_LENGTH },
);

export const newPasswordField = z.string().superRefine((password, context) => {
  const message = passwordProblem(password);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
