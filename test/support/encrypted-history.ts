// Encrypts a recorded history as a client and a worker with TEMPORAL_PAYLOAD_KEY would have written it.
import type { Payload } from '@temporalio/common';
import { createPayloadCodec } from '../../config/payload-encryption.js';

interface JsonPayload {
  metadata: Record<string, string>;
  data?: string;
}

/** Codecs leave headers, search attributes and the numbers in markers of local activities as they are. */
const IN_THE_CLEAR = ['header', 'searchAttributes', 'data'];

/** `text` is the JSON of a history of one run, to which its payloads are bound. */
export async function encryptedHistory(text: string, key: Buffer): Promise<string> {
  const history = JSON.parse(text) as {
    events: { workflowExecutionStartedEventAttributes: { workflowId: string } }[];
  };
  const { workflowId } = history.events[0]!.workflowExecutionStartedEventAttributes;
  const codec = createPayloadCodec([key]);
  const encrypt = async (payload: JsonPayload): Promise<JsonPayload> => {
    const context = { type: 'workflow', namespace: 'default', workflowId } as const;
    const [sealed] = await codec.encode([toPayload(payload)], context);
    return { metadata: mapValues(sealed!.metadata!, toBase64), data: toBase64(sealed!.data!) };
  };
  const walk = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(walk));
    if (typeof value !== 'object' || value === null) return value;
    if ('metadata' in value) return encrypt(value as JsonPayload);
    const walked = Object.entries(value).map(async ([name, part]): Promise<[string, unknown]> => [
      name,
      IN_THE_CLEAR.includes(name) ? part : await walk(part),
    ]);
    return Object.fromEntries(await Promise.all(walked));
  };
  return JSON.stringify(await walk(history));
}

function toPayload({ metadata, data = '' }: JsonPayload): Payload {
  return { metadata: mapValues(metadata, fromBase64), data: fromBase64(data) };
}

function mapValues<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
