// The messages between a codec server and Temporal's UI and CLI, in both directions: `{"payloads": [...]}`
// with base64 bytes.
import type { Payload } from '@temporalio/common';
import { z } from 'zod';

const bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

const bodySchema = z.object({
  payloads: z.array(
    z.object({
      metadata: z.record(z.string(), bytes).nullable().default(null),
      data: bytes.nullable().default(null),
    }),
  ),
});

/** Returns undefined if the body has another form. */
export function parsePayloads(text: string): Payload[] | undefined {
  try {
    return bodySchema.safeParse(JSON.parse(text)).data?.payloads;
  } catch {
    return undefined;
  }
}

export function toBody(payloads: Payload[]): string {
  const shown = payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, toBase64(value)])),
    ...(data === null || data === undefined ? {} : { data: toBase64(data) }),
  }));
  return JSON.stringify({ payloads: shown });
}

function toBase64(value: Uint8Array): string {
  return Buffer.from(value).toString('base64');
}
