// Hashes passwords with scrypt, on a thread beside the event loop.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

interface Parameters {
  /** The binary logarithm of N, the cost parameter of scrypt. */
  ln: number;
  r: number;
  p: number;
}

/** OWASP recommends these parameters. They need 16 MiB, and about as much time as a login may take. */
const PARAMETERS: Parameters = { ln: 14, r: 8, p: 5 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** The limit is above the 128 * N * r bytes of the parameters. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const FORM = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** Returns the text to store. It includes the parameters, so that later passwords may use others. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, PARAMETERS);
  const { ln, r, p } = PARAMETERS;
  return `$scrypt$ln=${ln},r=${r},p=${p}$${toText(salt)}$${toText(hash)}`;
}

/** If there is no stored hash, returns false after the same time. */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  if (stored === undefined) {
    await derive(password, NOBODYS_SALT, PARAMETERS);
    return false;
  }
  const [, ln, r, p, salt = '', hash = ''] = FORM.exec(stored) ?? [];
  if (hash === '') throw new Error('a stored password is no hash of scrypt');
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64'), parameters);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64'));
}

const NOBODYS_SALT = randomBytes(SALT_BYTES);

function derive(password: string, salt: Buffer, { ln, r, p }: Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Systems encode the same letter in several ways; without one normal form the right password could be refused.
    const text = password.normalize('NFKC');
    const cost = { N: 2 ** ln, r, p, maxmem: MAX_MEMORY_BYTES };
    scrypt(text, salt, HASH_BYTES, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function toText(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
