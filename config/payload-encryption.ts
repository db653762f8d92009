// Optional encryption of all payloads that Temporal stores, with AES-256-GCM (docs/operate/security.md).
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';

/**
 * The encoding of encrypted payloads. A stored payload with another encoding is plain, for example because no key was
 * set when it was stored; decoding returns it unchanged.
 */
const ENCODING = 'binary/encrypted';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NEWLINE = 0x0a;

type Metadata = Record<string, Uint8Array>;

/** The payload was sealed with a key that this process does not have, was changed, or belongs to another run. */
export class PayloadKeyError extends Error {
  override name = 'PayloadKeyError';
}

/**
 * Returns the converter for clients and workers. Without keys nothing is encrypted, and an encrypted payload causes an
 * error that names the missing key. With keys, the messages and stacks of failures are also encrypted.
 */
export function createDataConverter(keys: readonly Buffer[]): DataConverter {
  const payloadCodecs = [createPayloadCodec(keys)];
  return keys.length === 0 ? { payloadCodecs } : { payloadCodecs, failureConverterPath };
}

/** A separate module, because the run workflow's sandbox also loads it: `.ts` in the sources, `.js` in the build. */
const failureConverterPath = fileURLToPath(
  new URL(`../temporal-workflows/encoded-failures${path.extname(import.meta.url)}`, import.meta.url),
);

/** `keys` have 32 bytes each. The first key encrypts; every key decrypts. */
export function createPayloadCodec(keys: readonly Buffer[]): PayloadCodec {
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  const [current] = byId;
  return {
    encode(payloads, context) {
      if (current === undefined) return Promise.resolve(payloads);
      return Promise.resolve(payloads.map((payload) => encrypt(payload, current, context?.workflowId)));
    },
    async decode(payloads, context) {
      return payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, byId, context) : payload));
    },
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.['encoding']) === ENCODING;
}

/** `boundTo`, the payload's run if known, prevents moving the payload into another run's history. */
function encrypt(payload: Payload, [keyId, key]: [string, Buffer], boundTo = ''): Payload {
  const metadata: Metadata = { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(keyId) };
  if (boundTo !== '') metadata['encryption-bound-to'] = Buffer.from(boundTo);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(toAssociatedData(keyId, boundTo));
  const sealed = [cipher.update(toBytes(payload)), cipher.final()];
  return { metadata, data: Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]) };
}

function decrypt(payload: Payload, keys: ReadonlyMap<string, Buffer>, context?: SerializationContext): Payload {
  const keyId = textOf(payload.metadata?.['encryption-key-id']);
  const boundTo = textOf(payload.metadata?.['encryption-bound-to']);
  const key = keys.get(keyId);
  if (key === undefined) throw new PayloadKeyError(describeMissing(keyId, keys.size));
  if (boundTo !== '' && context?.workflowId !== undefined && context.workflowId !== boundTo) {
    throw new PayloadKeyError('An encrypted payload of another run stands in this one.');
  }
  const data = Buffer.from(payload.data ?? []);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(toAssociatedData(keyId, boundTo))
      .setAuthTag(data.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return toPayload(Buffer.concat([decipher.update(data.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]));
  } catch (error) {
    throw new PayloadKeyError('An encrypted payload was changed, or is cut short.', { cause: error });
  }
}

function describeMissing(keyId: string, count: number): string {
  const shown = /^[0-9a-f]{8}$/.test(keyId) ? ` ${keyId}` : '';
  if (count === 0)
    return `TEMPORAL_PAYLOAD_KEY: must be set, for a payload in Temporal is encrypted with a key${shown}.`;
  return `TEMPORAL_PAYLOAD_KEY: the key${shown}, with which a payload in Temporal is encrypted, is not among the keys given.`;
}

/** Identifies a key without revealing anything about it. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

function toAssociatedData(keyId: string, boundTo: string): Buffer {
  return Buffer.from(`${ENCODING}\n${keyId}\n${boundTo}`);
}

/**
 * Returns the metadata as one line of JSON, followed by the data. `data` is converted to a buffer because the payload
 * of a run that returns nothing has, in the SDK, a plain empty array as `data`, which `Buffer.concat` refuses.
 */
function toBytes({ metadata, data }: Payload): Buffer {
  const encoded = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(Object.fromEntries(encoded))}\n`), Buffer.from(data ?? [])]);
}

function toPayload(bytes: Buffer): Payload {
  const end = bytes.indexOf(NEWLINE);
  const metadata = JSON.parse(bytes.toString('utf8', 0, end)) as Record<string, string>;
  const decoded = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(decoded) as Metadata, data: bytes.subarray(end + 1) };
}

function textOf(value: Uint8Array | undefined | null): string {
  return value === undefined || value === null ? '' : Buffer.from(value).toString('utf8');
}
