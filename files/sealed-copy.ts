// The stored form of the bytes of a file: chunks of 64 KiB, each sealed with AES-256-GCM under a key that is used for
// this copy only (docs/adr/0028-files.md).
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { MissingKeyError } from '../db/core/secret-box.js';

const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const KEY_ID_BYTES = 4;
const SALT_BYTES = 32;

/**
 * The copy to which the bytes belong. `projectId` and `copyId` are bound to each chunk, so that a chunk cannot be
 * opened as part of another copy.
 */
export interface CopyKey {
  projectId: number;
  /** UUID. */
  copyId: string;
  /** The return value of `newSeal`: the id of the key, and the salt. */
  seal: Buffer;
}

/** A part of the bytes; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface FileSealer {
  /** Returns the key id and salt to store with a new copy. */
  newSeal(): Buffer;
  /** Throws `MissingKeyError` if the key that sealed the copy is gone. */
  assertKey(copy: CopyKey): void;
  /** Returns a stream that seals its input. */
  sealing(copy: CopyKey): Transform;
  /**
   * Opens the sealed bytes of `sealedRange`, and yields the bytes of `range`. A chunk that was changed, moved or cut
   * off is an error, and none of its bytes are yielded. Throws `MissingKeyError`.
   */
  opening(copy: CopyKey, size: number, range: ByteRange): Transform;
}

/** `keys` are the keys of SECRETS_KEY, 32 bytes each. The first key seals; every key opens. */
export function createFileSealer(keys: readonly Buffer[]): FileSealer {
  const byId = new Map(keys.map((key) => [idOf(key).toString('hex'), key]));
  const current = keys[0];
  if (current === undefined) throw new Error('files need a key');
  const keyOf = ({ seal, projectId, copyId }: CopyKey): Buffer => {
    const id = seal.subarray(0, KEY_ID_BYTES).toString('hex');
    const key = byId.get(id);
    if (key === undefined) throw new MissingKeyError(id);
    const salt = seal.subarray(KEY_ID_BYTES);
    return Buffer.from(hkdfSync('sha256', key, salt, `file ${projectId} ${copyId.toLowerCase()}`, 32));
  };
  return {
    newSeal: () => Buffer.concat([idOf(current), randomBytes(SALT_BYTES)]),
    assertKey: (copy) => void keyOf(copy),
    sealing: (copy) => new Sealing(keyOf(copy), copy),
    opening: (copy, size, range) => new Opening(keyOf(copy), copy, size, range),
  };
}

/** Returns the position of the chunks of `range` within the sealed bytes of a file of `size` bytes. */
export function sealedRange(size: number, { start, end }: ByteRange): ByteRange {
  const first = Math.min(Math.floor(start / CHUNK_BYTES), lastChunk(size));
  const last = end <= start ? first : Math.floor((end - 1) / CHUNK_BYTES);
  const sealedSize = size + (lastChunk(size) + 1) * TAG_BYTES;
  return { start: first * SEALED_CHUNK_BYTES, end: Math.min((last + 1) * SEALED_CHUNK_BYTES, sealedSize) };
}

function lastChunk(size: number): number {
  return Math.max(0, Math.ceil(size / CHUNK_BYTES) - 1);
}

class Sealing extends Transform {
  readonly #key: Buffer;
  readonly #copy: CopyKey;
  readonly #gathered = new Gathered();
  #number = 0;

  constructor(key: Buffer, copy: CopyKey) {
    super();
    this.#key = key;
    this.#copy = copy;
  }

  override _transform(bytes: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#gathered.add(bytes);
    // The last chunk is marked as the last, so a full chunk waits for the bytes after it.
    while (this.#gathered.size > CHUNK_BYTES) this.#push(this.#gathered.read(CHUNK_BYTES), false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#push(this.#gathered.read(this.#gathered.size), true);
    done();
  }

  #push(chunk: Buffer, isLast: boolean): void {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#number));
    cipher.setAAD(associatedData(this.#copy, this.#number, isLast));
    this.push(Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]));
    this.#number += 1;
  }
}

class Opening extends Transform {
  readonly #key: Buffer;
  readonly #copy: CopyKey;
  readonly #range: ByteRange;
  readonly #last: number;
  readonly #sealedEnd: number;
  readonly #gathered = new Gathered();
  #number: number;
  #at: number;

  constructor(key: Buffer, copy: CopyKey, size: number, range: ByteRange) {
    super();
    this.#key = key;
    this.#copy = copy;
    this.#range = range;
    this.#last = lastChunk(size);
    const sealed = sealedRange(size, range);
    this.#at = sealed.start;
    this.#sealedEnd = sealed.end;
    this.#number = sealed.start / SEALED_CHUNK_BYTES;
  }

  override _transform(bytes: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#gathered.add(bytes);
    try {
      while (this.#gathered.size >= this.#nextBytes && this.#nextBytes > 0) this.#open();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    const isWhole = this.#gathered.size === 0 && this.#nextBytes === 0;
    done(isWhole ? null : new Error('the stored bytes of a file are not whole'));
  }

  get #nextBytes(): number {
    return Math.min(SEALED_CHUNK_BYTES, this.#sealedEnd - this.#at);
  }

  #open(): void {
    const sealed = this.#gathered.read(this.#nextBytes);
    this.#at += sealed.length;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonceOf(this.#number));
    decipher.setAAD(associatedData(this.#copy, this.#number, this.#number === this.#last));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
    const from = this.#number * CHUNK_BYTES;
    const wanted = plain.subarray(Math.max(0, this.#range.start - from), Math.max(0, this.#range.end - from));
    if (wanted.length > 0) this.push(wanted);
    this.#number += 1;
  }
}

/** Bytes that have arrived and are not processed yet. */
class Gathered {
  size = 0;
  #parts: Buffer[] = [];

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.size += bytes.length;
  }

  /** Copies only the bytes that it returns, and those only if they have arrived in several parts. */
  read(bytes: number): Buffer {
    const read: Buffer[] = [];
    let missing = Math.min(bytes, this.size);
    let whole = 0;
    while (missing > 0) {
      const part = this.#parts[whole]!;
      read.push(part.subarray(0, missing));
      if (part.length > missing) this.#parts[whole] = part.subarray(missing);
      else whole += 1;
      missing -= Math.min(part.length, missing);
    }
    this.#parts.splice(0, whole);
    this.size -= Math.min(bytes, this.size);
    return read.length === 1 ? read[0]! : Buffer.concat(read);
  }
}

/** A key seals one copy only, so the number of the chunk is a nonce that is never repeated. */
function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 6, 6);
  return nonce;
}

function associatedData({ projectId, copyId }: CopyKey, number: number, isLast: boolean): Buffer {
  return Buffer.from(JSON.stringify(['file', projectId, copyId.toLowerCase(), number, isLast]));
}

function idOf(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);
}
