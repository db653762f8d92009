import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FileStore } from '../../files/file-store.js';
import { createS3Store } from '../../files/s3-store.js';
import { createApiClient, type Envelope } from '../../harness/client/api-client.js';
import { drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../harness/target/http-target.js';
import { needPrograms } from '../support/programs.js';
import { startS3Server, type S3Server } from '../support/s3-server.js';
import { startStack } from '../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';

describe('files in S3', function () {
  this.timeout(400_000);
  let server: S3Server;
  let store: FileStore;

  before(async function () {
    needPrograms(this, 'go');
    server = await startS3Server();
    Object.assign(process.env, server.env);
    store = createS3Store({ bucket: server.bucket, endpoint: server.endpoint, region: 'us-east-1' });
  });
  after(async () => server?.close());

  const objects = async (): Promise<string[]> =>
    (await readdir(server.folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'store-mark')
      .map((entry) => entry.name);
  const pieces = function* (bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += 65_552) yield bytes.subarray(at, at + 65_552);
  };

  it('are kept whole, small and in several parts, read in part, and removed', async () => {
    for (const size of [1, 100_000, 12_000_001]) {
      const bytes = randomBytes(size);
      await store.write('some-name', Readable.from(pieces(bytes)));
      assert.ok((await buffer(await store.read('some-name', { start: 0, end: size }))).equals(bytes), `${size}`);
      const middle = Math.floor(size / 2);
      const part = await buffer(await store.read('some-name', { start: middle, end: size }));
      assert.ok(part.equals(bytes.subarray(middle)));
      await store.remove('some-name');
      await store.remove('some-name');
      await assert.rejects(store.read('some-name', { start: 0, end: 1 }), { name: 'MissingBytesError' });
    }
    assert.deepEqual(await objects(), []);
  });

  it('leave nothing where the bytes break off, or the writer gives up', async () => {
    const broken = function* (): Generator<Buffer> {
      yield* pieces(randomBytes(11_000_000));
      throw new Error('gone');
    };
    await assert.rejects(store.write('broken', Readable.from(broken())), /gone/);
    const stop = new AbortController();
    const slow = async function* (): AsyncGenerator<Buffer> {
      yield* pieces(randomBytes(6_000_000));
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield* pieces(randomBytes(6_000_000));
    };
    await assert.rejects(store.write('given-up', Readable.from(slow()), stop.signal));
    await store.remove('broken');
    await store.remove('given-up');
    assert.deepEqual(await objects(), []);
  });

  it('have a store with one mark', async () => {
    const marks = await Promise.all([store.markedAs(randomUUID()), store.markedAs(randomUUID())]);
    assert.equal(marks[0], marks[1]);
    assert.equal(await store.markedAs(randomUUID()), marks[0]);
  });

  it('go through a whole stack, sealed', async () => {
    const { endpoint, bucket, env } = server;
    const stack = await startStack({ env: { ...env, FILES_S3_BUCKET: bucket, FILES_S3_ENDPOINT: endpoint } });
    const target = await startHttpTarget();
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const files = createFileClient(stack);
      const projectId = await api.createProject();
      const ofSamples = await objects();
      const text = 'a text that must not be found '.repeat(10_000);
      const file = await files.upload(projectId, text);
      target.on('/echo', [{ body: text, headers: { 'content-type': 'application/octet-stream' } }]);
      const call = http(`${target.url}/echo`, {
        method: 'POST',
        body: { $file: '{{ input.doc }}' },
        settings: { response: 'file' },
      });
      const workflow = await api.createWorkflow(
        projectId,
        drawing(linkInRow([trigger([{ id: 'doc', type: 'file' }]), call])),
      );
      const { data }: Envelope = await api.run(workflow, { doc: file });
      const end = await api.pollToEnd(data.id);
      assert.equal(end.data.status, 'succeed', JSON.stringify(end));
      assert.equal(target.requestsTo('/echo')[0]!.body, text);
      const made = end.data.data![call.id]!.result!['file'] as FileValue;
      assert.equal(String((await files.bytesOf(made.file_id))[1]), text);
      assert.equal((await objects()).length, ofSamples.length + 1, 'equal bytes are stored once');
      for (const { file_id: id } of [file, made]) assert.equal((await api.delete(`/files/${id}/`)).status, 204);
      assert.deepEqual(await objects(), ofSamples);
    } finally {
      await Promise.all([stack.stop(), target.close()]);
    }
  });
});
