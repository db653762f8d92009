// Creates users with passwords directly in the database, and browsers in which they sign in.
import { randomBytes, randomUUID, scryptSync } from 'node:crypto';
import { hashPassword } from '../../../api/sessions/password-hash.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { createUser } from '../../../db/users/users-repository.js';
import { writePassword } from '../../../db/sessions/passwords-repository.js';
import { createSignInLink } from '../../../db/sessions/sign-in-links-repository.js';
import type { TestStack } from '../../../harness/stack/stack.js';

export interface Person {
  userId: number;
  email: string;
  password: string;
}

interface PersonOptions {
  apiAccess?: boolean;
  /** Hashes the password as slowly as the service does, for tests that measure its time. */
  slowHash?: boolean;
}

export async function createPerson(
  stack: TestStack,
  { apiAccess = true, slowHash = false }: PersonOptions = {},
): Promise<Person> {
  const person = { email: `Ada.${randomUUID()}@Example.com`, password: `pass ${randomBytes(9).toString('base64')}` };
  return withDatabase(stack, async (db) => {
    const user = await createUser(db, { name: 'Ada', email: person.email, apiAccess });
    const hash = slowHash ? await hashPassword(person.password) : hashQuickly(person.password);
    await writePassword(db, user.id, hash);
    return { ...person, userId: user.id };
  });
}

/** The service reads the cost parameters from the stored hash. This hash takes less than a thousandth of the usual. */
function hashQuickly(password: string): string {
  const [ln, r, p] = [4, 8, 1];
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r, p });
  const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$scrypt$ln=${ln},r=${r},p=${p}$${saltText}$${hashText}`;
}

export function createLink(stack: TestStack, userId: number): Promise<string> {
  return withDatabase(stack, (db) => createSignInLink(db, userId));
}

async function withDatabase<T>(stack: TestStack, use: (db: Database) => Promise<T>): Promise<T> {
  const options = { poolMax: 1, applicationName: 'test', onError: () => undefined };
  const db = createDatabase({ url: stack.stack.database_url, ...options });
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}

interface SignedIn {
  access_token: string;
  token_type: string;
  expires_in: number;
  user: { id: number; name: string; email: string | null; api_access: boolean; is_admin: boolean };
}

export interface AuthAnswer {
  status: number;
  headers: Headers;
  body: SignedIn & { detail?: string; code?: string };
  setCookie: string | undefined;
}

/** A browser that signs in. It keeps the refresh cookie as the answers set and clear it. */
export class Browser {
  readonly #apiUrl: string;
  cookie: string | undefined;

  constructor(apiUrl: string) {
    this.#apiUrl = apiUrl;
  }

  /** A second tab: it starts with the current cookie and then changes it independently. */
  tab(): Browser {
    const tab = new Browser(this.#apiUrl);
    tab.cookie = this.cookie;
    return tab;
  }

  logIn({ email, password }: Pick<Person, 'email' | 'password'>, headers = {}): Promise<AuthAnswer> {
    return this.post('login/', { email, password }, headers);
  }

  refresh(headers: Record<string, string> = {}): Promise<AuthAnswer> {
    return this.post('refresh/', undefined, headers);
  }

  logOut(headers: Record<string, string> = {}): Promise<AuthAnswer> {
    return this.post('logout/', undefined, headers);
  }

  async post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<AuthAnswer> {
    const response = await fetch(`${this.#apiUrl}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === undefined ? {} : { cookie: `other=1; wfa_refresh=${this.cookie}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const [setCookie] = response.headers.getSetCookie();
    const value = /^wfa_refresh=([^;]*)/.exec(setCookie ?? '')?.[1];
    if (value !== undefined) this.cookie = value === '' ? undefined : value;
    const parsed = (text === '' ? {} : JSON.parse(text)) as AuthAnswer['body'];
    return { status: response.status, headers: response.headers, body: parsed, setCookie };
  }
}

/** Signs the person in. Returns the browser and its access token. */
export async function signedIn(stack: TestStack, person: Person): Promise<{ browser: Browser; session: string }> {
  const browser = new Browser(stack.apiUrl);
  const { status, body } = await browser.logIn(person);
  if (status !== 200) throw new Error(`the login was answered with ${status}: ${JSON.stringify(body)}`);
  return { browser, session: body.access_token };
}
