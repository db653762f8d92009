import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Payload, SerializationContext } from '@temporalio/common';
import { createDataConverter, createPayloadCodec, PayloadKeyError } from '../../config/payload-encryption.js';

const [first, second] = [randomBytes(32), randomBytes(32)];
const codec = createPayloadCodec([first]);
const plain: Payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from('{"label":"Canary ä"}\n'),
};
const inRun = (workflowId: string): SerializationContext => ({ type: 'workflow', namespace: 'default', workflowId });

describe('payload encryption', () => {
  it('gives back what it was given, byte for byte', async () => {
    const payloads: Payload[] = [plain, { metadata: {}, data: new Uint8Array() }, { data: randomBytes(100_000) }];
    const encoded = await codec.encode(payloads);
    for (const { metadata } of encoded) assert.equal(String(metadata!['encoding']), 'binary/encrypted');
    const decoded = await codec.decode(encoded);
    for (const [index, { metadata, data }] of decoded.entries()) {
      assert.deepEqual(Buffer.from(data!), Buffer.from(payloads[index]!.data!));
      assert.deepEqual(metadata, { ...payloads[index]!.metadata });
    }
    assert.deepEqual(await codec.encode([]), []);
  });

  it('takes the plain empty array that the SDK has as data where a run returns nothing', async () => {
    const nothing = { metadata: { encoding: Buffer.from('binary/null') }, data: [] as unknown as Uint8Array };
    const [decoded] = await codec.decode(await codec.encode([nothing]));
    assert.deepEqual(decoded, { metadata: nothing.metadata, data: Buffer.alloc(0) });
  });

  it('shows nothing of the payload, not even the kind of its contents, and never the same bytes twice', async () => {
    const [one, two] = await codec.encode([plain, plain]);
    const text = Buffer.from(one!.data!).toString('latin1');
    assert.ok(!text.includes('Canary') && !text.includes('json'));
    assert.notDeepEqual(one!.data, two!.data);
    assert.deepEqual(Object.keys(one!.metadata!), ['encoding', 'encryption-key-id']);
  });

  it('leaves payloads from before it was switched on as they are', async () => {
    assert.deepEqual(await codec.decode([plain]), [plain]);
  });

  it('encrypts with the first key and decrypts with all', async () => {
    const rotated = createPayloadCodec([second, first]);
    const old = await codec.encode([plain]);
    assert.deepEqual(Buffer.from((await rotated.decode(old))[0]!.data!), plain.data);
    const fresh = await rotated.encode([plain]);
    await assert.rejects(codec.decode(fresh), isAbout(/^TEMPORAL_PAYLOAD_KEY: the key [0-9a-f]{8}, .* is not among/));
    assert.deepEqual(Buffer.from((await createPayloadCodec([second]).decode(fresh))[0]!.data!), plain.data);
  });

  it('without a key nothing is encrypted, and what is encrypted is refused in so many words', async () => {
    const off = createDataConverter([]);
    assert.equal(off.failureConverterPath, undefined);
    const [none] = off.payloadCodecs!;
    assert.deepEqual(await none!.encode([plain]), [plain]);
    const encoded = await codec.encode([plain]);
    await assert.rejects(none!.decode(encoded), isAbout(/^TEMPORAL_PAYLOAD_KEY: must be set, .* [0-9a-f]{8}\.$/));
  });

  it('notices every changed byte', async () => {
    const [encoded] = await codec.encode([plain], inRun('run-1'));
    for (let at = 0; at < encoded!.data!.length; at += 1) {
      const data = Buffer.from(encoded!.data!);
      data[at]! ^= 1;
      await assert.rejects(codec.decode([{ ...encoded!, data }]), PayloadKeyError, `byte ${at}`);
    }
    await assert.rejects(codec.decode([{ ...encoded!, data: new Uint8Array() }]), PayloadKeyError);
    await assert.rejects(codec.decode([{ metadata: { encoding: Buffer.from('binary/encrypted') } }]), PayloadKeyError);
  });

  it('a payload cannot be put into the history of another run, nor its binding be taken away', async () => {
    const [encoded] = await codec.encode([plain], inRun('run-1'));
    assert.deepEqual(Buffer.from((await codec.decode([encoded!], inRun('run-1')))[0]!.data!), plain.data);
    // The codec server does not know the run of the payloads that it decodes.
    assert.deepEqual(Buffer.from((await codec.decode([encoded!]))[0]!.data!), plain.data);
    await assert.rejects(codec.decode([encoded!], inRun('run-2')), PayloadKeyError);
    const { 'encryption-bound-to': _, ...metadata } = encoded!.metadata!;
    await assert.rejects(codec.decode([{ ...encoded!, metadata }]), PayloadKeyError);
    const renamed = { ...encoded!.metadata, 'encryption-bound-to': Buffer.from('run-2') };
    await assert.rejects(codec.decode([{ ...encoded!, metadata: renamed }], inRun('run-2')), PayloadKeyError);
  });
});

function isAbout(message: RegExp): (error: Error) => boolean {
  return (error) => error instanceof PayloadKeyError && message.test(error.message);
}
