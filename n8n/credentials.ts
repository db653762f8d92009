// Credentials that a file of n8n holds in plain text.
import { credentialLiteralsOf, isCredentialName } from '../graph/public-drawing.js';

/** Whether a header is a credential, and its value more than variables. */
export function isLiteralCredential(name: string, value: string): boolean {
  return isCredentialName(name) && credentialLiteralsOf(value).length > 0;
}
