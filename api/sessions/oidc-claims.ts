import type { Identity } from '../../db/sessions/identities-repository.js';

const MAX_SUBJECT = 255;
const MAX_NAME = 255;
const MAX_EMAIL = 320;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** `claims`: of the ID token and the user info. What an issuer says is text of somebody else's. */
export function toIdentity(issuer: string, subject: string, claims: Record<string, unknown>): Identity {
  if (subject === '' || subject.length > MAX_SUBJECT || hasControls(subject)) throw new Error('the subject is no text');
  const verifiedEmail = claims['email_verified'] === true ? toEmail(claims['email']) : undefined;
  const names = [claims['name'], claims['preferred_username'], verifiedEmail, subject];
  return { issuer, subject, name: names.map(toName).find((name) => name !== '') ?? subject, verifiedEmail };
}

function toEmail(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim.length > MAX_EMAIL || hasControls(claim)) return undefined;
  return EMAIL.test(claim) ? claim : undefined;
}

function toName(claim: unknown): string {
  if (typeof claim !== 'string') return '';
  // Well formed, without halves of characters: the database takes no others.
  const text = Array.from(claim.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim());
  return text.slice(0, MAX_NAME).join('');
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Surrogate}]/u.test(text);
}
