import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, 'common-passwords/passwords.txt');
let known: ReadonlySet<string> | undefined;

/**
 * Whether the password is one that attackers try first, in any case of its letters. The list has only passwords that are long
 * enough to be taken otherwise (password-rules.ts); it is read when the first password is set.
 */
export function isCommonPassword(password: string): boolean {
  known ??= new Set(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('# ')),
  );
  return known.has(password.normalize('NFKC').toLowerCase());
}
