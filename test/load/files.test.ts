// Large files are uploaded, sent to a server that echoes them, received, and downloaded. They are streamed, so the
// memory of the processes does not depend on their size. `FILES=100 FILE_MIB=90 FILES_IN_S3=1` makes the largest
// measurement.
import assert from 'node:assert/strict';
import { createCipheriv, createHash, type Hash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, http as httpNode, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { startS3Server, type S3Server } from '../support/s3-server.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import type { FileValue } from '../support/upload.js';
import { peakRssMiB } from '../../harness/processes/figures.js';

const FILES = Number(process.env['FILES'] ?? 20);
const FILE_BYTES = Number(process.env['FILE_MIB'] ?? 30) * 2 ** 20;
const IN_S3 = process.env['FILES_IN_S3'] === '1';
const AT_ONCE = 10;
const BOUND_MIB = IN_S3 ? 300 : 150;

describe(`${FILES} files of ${FILE_BYTES / 2 ** 20} MiB, ${AT_ONCE} at once`, function () {
  this.timeout(1_800_000);
  let stack: TestStack;
  let api: ApiClient;
  let server: http.Server;
  let s3: S3Server | undefined;
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const url = (at: string): string => `${stack.apiUrl}/api/v1${at}`;
  const key = () => ({ 'x-api-key': stack.apiKey });

  before(async () => {
    s3 = IN_S3 ? await startS3Server() : undefined;
    const store = s3 && { ...s3.env, FILES_S3_BUCKET: s3.bucket, FILES_S3_ENDPOINT: s3.endpoint };
    stack = await startStack({ env: { MAX_PROJECT_BYTES: '100 GiB', ...store } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    server = http.createServer((incoming, response) => {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': incoming.headers['content-length'],
      });
      pipeline(incoming, response).catch(() => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await agent.close();
    await stack.stop();
    await s3?.close();
  });

  /** Returns content that differs for each file and is cheap to generate. */
  function contentOf(at: number, hash: Hash): Readable {
    const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, at + 1), Buffer.alloc(16));
    const block = Buffer.alloc(2 ** 18);
    const pieces = function* (): Generator<Buffer> {
      for (let left = FILE_BYTES; left > 0; left -= block.length) {
        const piece = cipher.update(left < block.length ? block.subarray(0, left) : block);
        hash.update(piece);
        yield piece;
      }
    };
    return Readable.from(pieces(), { objectMode: false });
  }

  async function passOne(at: number, projectId: number, workflowId: number, nodeId: string): Promise<void> {
    const hash = createHash('sha256');
    const { body, statusCode } = await request(url(`/projects/${projectId}/files/`), {
      method: 'POST',
      headers: { ...key(), 'x-file-name': `file-${at}`, 'content-length': String(FILE_BYTES) },
      body: contentOf(at, hash),
      dispatcher: agent,
    });
    const file = (await body.json()) as FileValue;
    assert.equal(statusCode, 201, JSON.stringify(file));
    const sha256 = hash.digest('hex');
    assert.equal(file.sha256, sha256);
    const { data } = await api.run(workflowId, { doc: file });
    const end = await api.pollToEnd(data.id, { timeoutMs: 600_000, intervalMs: 300 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    const made = end.data.data![nodeId]!.result!['file'] as FileValue;
    assert.deepEqual([made.size, made.sha256], [FILE_BYTES, sha256]);
    const down = await request(url(`/files/${made.file_id}/content/`), { headers: key(), dispatcher: agent });
    const got = createHash('sha256');
    for await (const piece of down.body as AsyncIterable<Buffer>) got.update(piece);
    assert.equal(got.digest('hex'), sha256);
  }

  it(`go through, byte for byte, and the memory of API and worker rises by less than ${BOUND_MIB} MiB`, async () => {
    const projectId = await api.createProject();
    const call = httpNode(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      method: 'PUT',
      body: { $file: '{{ input.doc }}' },
      settings: { response: 'file', timeout: 300 },
    });
    const start = trigger([{ id: 'doc', type: 'file' }]);
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([start, call])));
    const peaks = () => ({
      api: Math.round(peakRssMiB(stack.stack.pids.api)),
      worker: Math.round(peakRssMiB(stack.stack.pids.worker)),
    });
    // The first file makes both processes load everything that they load only once.
    await passOne(0, projectId, workflow, call.id);
    const before = peaks();
    const begun = performance.now();
    let next = 1;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < FILES) await passOne(next++, projectId, workflow, call.id);
      }),
    );
    const after = peaks();
    const rise = { api: after.api - before.api, worker: after.worker - before.worker };
    const seconds = Math.round((performance.now() - begun) / 1000);
    process.stderr.write(`      MiB: ${JSON.stringify({ before, after, rise })}, ${seconds} s\n`);
    assert.ok(rise.api < BOUND_MIB && rise.worker < BOUND_MIB, JSON.stringify({ before, after, rise }));
  });
});
