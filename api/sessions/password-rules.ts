import { z } from 'zod';
import { isCommonPassword } from './common-passwords.js';

/** In characters. Short ones are guessed; no kinds of characters are asked for. */
const MIN_LENGTH = 12;
/** A longer text is no password, but work for whoever compares it. */
export const MAX_PASSWORD_LENGTH = 1024;

/** What is wrong with a new password, in one sentence; undefined when nothing is. */
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
