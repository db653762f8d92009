// Secrets at rest: AES-256-GCM.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** What a sealed value is for; bound to it as associated data, so that one cannot be put in another's place. */
export type SecretContext =
  | 'workflow-secrets'
  | 'run-input'
  | 'run-secrets'
  | 'loop-item'
  | 'node-result'
  | 'provider-key'
  | 'idempotency-key'
  | 'agent'
  | 'callback'
  | 'hook-token'
  | 'hook-secret'
  | 'schedule-input'
  | 'tool-session'
  | 'human-answer'
  | 'webhook-secret';

/** A stored value was sealed with a key that this process was not given. */
export class MissingKeyError extends Error {
  override name = 'MissingKeyError';

  constructor(id: string) {
    super(`SECRETS_KEY: the key ${id}, with which a stored value is sealed, is not among the keys given.`);
  }
}

export interface SecretBox {
  /** Names the key that seals, without telling anything of it. */
  readonly keyId: string;
  /** Of all keys, the one that seals first. */
  readonly keyIds: readonly string[];
  seal(plain: string, context: SecretContext): Buffer;
  /** Throws MissingKeyError, or another error when the value was changed or the context is another one. */
  open(box: Buffer, context: SecretContext): string;
}

const VERSION = 1;
const HEADER_BYTES = 1 + 4 + 12; // version, key id, nonce
const TAG_BYTES = 16;

/** `keys`: 32 bytes each. The first seals, all open (rotation: put the new key in front). */
export function createSecretBox(keys: Buffer[]): SecretBox {
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));
  const current = keys[0];
  if (current === undefined) throw new Error('a secret box needs a key');
  return {
    keyId: keyId(current).toString('hex'),
    keyIds: [...byId.keys()],
    seal(plain, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), keyId(current), nonce, cipher.getAuthTag(), sealed]);
    },
    open(box, context) {
      if (box[0] !== VERSION || box.length < HEADER_BYTES + TAG_BYTES) throw new Error('not a sealed value');
      const id = box.subarray(1, 5).toString('hex');
      const key = byId.get(id);
      if (key === undefined) throw new MissingKeyError(id);
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(5, HEADER_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(box.subarray(HEADER_BYTES, HEADER_BYTES + TAG_BYTES));
      const plain = Buffer.concat([decipher.update(box.subarray(HEADER_BYTES + TAG_BYTES)), decipher.final()]);
      return plain.toString('utf8');
    },
  };
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, 4);
}
