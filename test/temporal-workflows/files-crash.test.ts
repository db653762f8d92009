import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { sweepFiles } from '../../api/background/sweep-files.js';
import { sweepingDeps } from '../api/files/sweeping.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, http as httpNode, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { eventually } from '../../harness/timing/eventually.js';
import { queryDatabase } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';

const BYTES = 3_000_000;

describe('files and processes that die', function () {
  this.timeout(180_000);
  let stack: StartedStack;
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let projectId: number;

  before(async function () {
    this.timeout(200_000);
    stack = await startStack();
    connect();
    projectId = await api.createProject();
  });
  after(() => stack.stop());

  function connect(): void {
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
  }

  /** Backdates the unfinished copies of dead processes, so that the sweep deletes them, and sweeps. */
  async function sweep(): Promise<void> {
    await queryDatabase(
      stack,
      `UPDATE file_copies SET touched_at = now() - interval '1 hour' WHERE status = 'writing'`,
    );
    const { deps, close } = sweepingDeps(stack);
    while (await sweepFiles(deps));
    await close();
  }

  /** Fails unless the folder contains exactly the copies that files refer to. */
  async function assertNothingOrphaned(): Promise<void> {
    await sweep();
    const there = (await readdir(path.join(stack.dataDir, 'files'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'store-mark')
      .map(({ name }) => name);
    const rows = await queryDatabase<{ name: string }>(
      stack,
      `SELECT name FROM file_copies WHERE status = 'stored' AND EXISTS (SELECT FROM files WHERE copy_id = file_copies.id)`,
    );
    assert.deepEqual(there.toSorted(), rows.map(({ name }) => name).toSorted());
  }

  /** Answers with half of the bytes at once, and with the rest after a call of `release`. */
  async function startSlowServer(bytes: Buffer) {
    let sendRest: () => void = () => undefined;
    let isHeld = true;
    let begun = 0;
    const received: Buffer[] = [];
    const server = http.createServer((request, response) => {
      begun += 1;
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        received.push(Buffer.concat(parts));
        response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length });
        response.write(bytes.subarray(0, BYTES / 2));
        const rest = (): void => void response.end(bytes.subarray(BYTES / 2));
        if (isHeld) sendRest = rest;
        else rest();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${randomUUID()}`,
      received,
      begun: () => begun,
      release: () => {
        isHeld = false;
        sendRest();
      },
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  it('a worker that dies while it saves an answer leaves nothing, and the next one saves it', async () => {
    const bytes = randomBytes(BYTES);
    const server = await startSlowServer(bytes);
    const call = httpNode(server.url, { settings: { response: 'file' } });
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([trigger(), call])));
    const { data } = await api.run(workflow, {});
    await eventually(() => server.begun() === 1);
    await eventually(
      async () => (await queryDatabase(stack, `SELECT FROM file_copies WHERE status = 'writing'`)).length > 0,
    );
    await killAndAwaitRestart(stack, 'worker');
    server.release();
    const end = await api.pollToEnd(data.id, { timeoutMs: 90_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    const made = end.data.data![call.id]!.result!['file'] as FileValue;
    assert.equal(made.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.ok((await files.bytesOf(made.file_id))[1].equals(bytes));
    await assertNothingOrphaned();
    assert.ok((await files.bytesOf(made.file_id))[1].equals(bytes), 'what is referred to is not swept');
    server.close();
  });

  it('a worker that dies while it sends a file sends it again whole', async () => {
    const server = await startSlowServer(Buffer.alloc(BYTES));
    const bytes = randomBytes(BYTES);
    const file = await files.upload(projectId, bytes, 'x', 'a/b');
    const call = httpNode(server.url, { method: 'PUT', body: { $file: '{{ input.doc }}' } });
    const start = trigger([{ id: 'doc', type: 'file' }]);
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([start, call])));
    const { data } = await api.run(workflow, { doc: file });
    await eventually(() => server.received.length === 1);
    await killAndAwaitRestart(stack, 'worker');
    server.release();
    const end = await api.pollToEnd(data.id, { timeoutMs: 90_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.ok(server.received.length >= 2);
    for (const sent of server.received) assert.ok(sent.equals(bytes));
    await assertNothingOrphaned();
    server.close();
  });

  it('an API process that dies amid an upload leaves nothing, and files that were stored before are there', async () => {
    const file = await files.upload(projectId, 'stored before');
    const { port } = new URL(stack.apiUrl);
    const request = http.request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `/api/v1/projects/${projectId}/files/`,
      headers: { 'X-API-Key': stack.apiKey, 'content-length': String(BYTES) },
    });
    request.on('error', () => undefined);
    request.write(randomBytes(BYTES / 2));
    await eventually(
      async () => (await queryDatabase(stack, `SELECT FROM file_copies WHERE status = 'writing'`)).length > 0,
    );
    await killAndAwaitRestart(stack, 'api');
    connect();
    await eventually(async () => (await files.bytesOf(file.file_id).catch(() => [0]))[0] === 200);
    await assertNothingOrphaned();
    assert.equal(String((await files.bytesOf(file.file_id))[1]), 'stored before');
  });
});
