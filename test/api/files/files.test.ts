import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { createAccount, giveRole } from '../accounts.js';
import { foldBytes } from '../../support/stored-bytes.js';
import { sweepingDeps } from './sweeping.js';
import { sweepFiles } from '../../../api/background/sweep-files.js';
import { sendBytesOf } from '../../../api/files/routes.js';
import { MissingBytesError } from '../../../files/file-store.js';
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../../support/upload.js';

const NEVER = new AbortController().signal;
const MAX_FILE_BYTES = 3 * 1024 * 1024;

type Facts = FileValue & { created_at: string; expires_at: string | null; used_by: Record<string, number> };

describe('files of a project', function () {
  this.timeout(120_000);
  let stack: StartedStack;
  let api: ApiClient;
  let projectId: number;

  before(async function () {
    this.timeout(200_000);
    stack = await startStack({ env: { MAX_FILE_BYTES: String(MAX_FILE_BYTES), MAX_PROJECT_BYTES: '16 MiB' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    projectId = await api.createProject();
  });
  after(() => stack.stop());

  const client = () => createFileClient(stack);
  const send = (...given: Parameters<ReturnType<typeof client>['send']>) => client().send(...given);
  const upload = (bytes: Uint8Array | string, name?: string, type?: string, project = projectId) =>
    client().upload(project, bytes, name, type);
  const bytesOf = (id: string, headers?: Record<string, string>) => client().bytesOf(id, headers);

  const stored = async (): Promise<string[]> =>
    (await readdir(path.join(stack.dataDir, 'files'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'store-mark')
      .map((entry) => entry.name);

  const leftAs = (before: readonly string[]) =>
    eventually(async () => JSON.stringify(await stored()) === JSON.stringify(before));

  it('are uploaded as multipart or as a raw body, and downloaded byte for byte', async () => {
    const bytes = randomBytes(1_000_003);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = await upload(bytes, 'Bericht ä.bin', 'application/x-thing');
    assert.deepEqual(
      { ...file, file_id: '' },
      {
        file_id: '',
        name: 'Bericht ä.bin',
        type: 'application/x-thing',
        size: bytes.length,
        sha256,
      },
    );
    const [status, given, headers] = await bytesOf(file.file_id);
    assert.equal(status, 200);
    assert.ok(given.equals(bytes));
    assert.equal(headers.get('content-type'), 'application/x-thing');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-disposition') ?? '', /^attachment; .*filename\*=UTF-8''Bericht%20%C3%A4\.bin/);
    const raw = await send(`/projects/${projectId}/files/`, {
      method: 'POST',
      body: 'plain',
      headers: { 'content-type': 'text/plain', 'x-file-name': encodeURIComponent('é.txt') },
    });
    const value = (await raw.json()) as FileValue;
    assert.deepEqual([raw.status, value.name, value.type, value.size], [201, 'é.txt', 'text/plain', 5]);
    const empty = await upload('', 'empty');
    assert.deepEqual([empty.size, (await bytesOf(empty.file_id))[1].length], [0, 0]);
  });

  it('can be read in ranges, and are a 304 for clients that have them', async () => {
    const file = await upload('0123456789');
    const part = async (range: string) => {
      const [status, bytes, headers] = await bytesOf(file.file_id, { range });
      return [status, String(bytes), headers.get('content-range')];
    };
    assert.deepEqual(await part('bytes=2-4'), [206, '234', 'bytes 2-4/10']);
    assert.deepEqual(await part('bytes=7-'), [206, '789', 'bytes 7-9/10']);
    assert.deepEqual(await part('bytes=-2'), [206, '89', 'bytes 8-9/10']);
    assert.deepEqual(await part('bytes=8-99'), [206, '89', 'bytes 8-9/10']);
    for (const range of ['bytes=0-1,3-4', 'bytes=5-2', 'bytes=a-b', 'lines=1-2'])
      assert.deepEqual(await part(range), [200, '0123456789', null], range);
    const [status, , headers] = await bytesOf(file.file_id, { range: 'bytes=10-' });
    assert.deepEqual([status, headers.get('content-range')], [416, 'bytes */10']);
    const etag = (await bytesOf(file.file_id))[2].get('etag')!;
    assert.equal((await bytesOf(file.file_id, { 'if-none-match': etag }))[0], 304);
    assert.equal((await bytesOf(file.file_id, { range: 'bytes=0-0', 'if-range': '"other"' }))[0], 200);
    const head = await send(`/files/${file.file_id}/content/`, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '10']);
  });

  it('are listed with their uses, searched by name, and sorted', async () => {
    const project = await api.createProject();
    const small = await upload('a', 'small.txt', 'text/plain', project);
    const large = await upload('b'.repeat(1000), 'large 100%.txt', 'text/plain', project);
    const list = async (query: string) => {
      const { body } = await api.get<{ total: number; items: Facts[] }>(`/projects/${project}/files/${query}`);
      return [body.total, ...body.items.map(({ name }) => name)];
    };
    assert.deepEqual(await list('?ordering=-size'), [2, 'large 100%.txt', 'small.txt']);
    assert.deepEqual(await list('?ordering=created_at'), [2, 'small.txt', 'large 100%.txt']);
    assert.deepEqual(await list('?search=100%25'), [1, 'large 100%.txt']);
    assert.equal((await api.get(`/projects/${project}/files/?ordering=name`)).status, 400);
    const { body } = await api.get<Facts>(`/files/${small.file_id}/`);
    assert.deepEqual(body.used_by, { runs: 0, pins: 0, cases: 0, drawings: 0, schedules: 0, messages: 0 });
    const days = (Date.parse(body.expires_at!) - Date.parse(body.created_at)) / 86_400_000;
    assert.equal(Math.round(days), 1);
    assert.notEqual(small.sha256, large.sha256);
  });

  it('with equal bytes have different ids, are stored once, and counted once', async () => {
    const project = await api.createProject();
    const bytes = randomBytes(200_000);
    const before = (await stored()).length;
    const files = await Promise.all([1, 2, 3, 4].map(() => upload(bytes, 'same', 'a/b', project)));
    assert.equal(new Set(files.map(({ file_id: id }) => id)).size, 4);
    assert.equal((await stored()).length, before + 1);
    await foldBytes(stack);
    const { body } = await api.get<{ stored_bytes: number }>(`/projects/${project}/`);
    assert.equal(body.stored_bytes, bytes.length);
    for (const { file_id: id } of files.slice(1)) assert.equal((await api.delete(`/files/${id}/`)).status, 204);
    assert.ok((await bytesOf(files[0]!.file_id))[1].equals(bytes));
    await api.delete(`/files/${files[0]!.file_id}/`);
    assert.equal((await stored()).length, before);
    await foldBytes(stack);
    assert.equal((await api.get<{ stored_bytes: number }>(`/projects/${project}/`)).body.stored_bytes, 0);
    for (const { file_id: id } of files) assert.equal((await api.get(`/files/${id}/`)).status, 404);
  });

  it('with equal bytes in two projects are independent', async () => {
    const [one, other] = [await api.createProject(), await api.createProject()];
    const bytes = randomBytes(1000);
    const [mine, theirs] = [await upload(bytes, 'x', 'a/b', one), await upload(bytes, 'x', 'a/b', other)];
    await api.delete(`/files/${mine.file_id}/`);
    assert.ok((await bytesOf(theirs.file_id))[1].equals(bytes));
  });

  it('that are too large are refused, and nothing of them is stored', async () => {
    const before = await stored();
    const large = Buffer.alloc(MAX_FILE_BYTES + 1);
    const form = new FormData();
    form.append('file', new Blob([large]), 'large');
    const answers = [
      await send(`/projects/${projectId}/files/`, { method: 'POST', body: large }),
      await send(`/projects/${projectId}/files/`, { method: 'POST', body: form }),
    ];
    for (const answer of answers)
      assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [413, 'body_too_large']);
    assert.deepEqual(await stored(), before);
    const project = await api.createProject();
    await upload(randomBytes(MAX_FILE_BYTES), 'x', 'a/b', project);
    for (let time = 0; time < 4; time += 1) await upload(randomBytes(MAX_FILE_BYTES), 'x', 'a/b', project);
    await foldBytes(stack);
    const beyond = await send(`/projects/${project}/files/`, { method: 'POST', body: randomBytes(MAX_FILE_BYTES) });
    assert.deepEqual([beyond.status, ((await beyond.json()) as { code: string }).code], [413, 'quota_exceeded']);
  });

  it('whose upload breaks off or is no valid multipart leave nothing behind', async () => {
    const before = await stored();
    const request = http.request(`${stack.apiUrl}/api/v1/projects/${projectId}/files/`, {
      method: 'POST',
      headers: { 'X-API-Key': stack.apiKey, 'content-length': '1000000' },
    });
    request.on('error', () => undefined);
    request.write(Buffer.alloc(300_000));
    await eventually(async () => (await stored()).length === before.length + 1);
    request.destroy();
    await leftAs(before);
    const boundary = 'multipart/form-data; boundary=xx';
    const bodies: [string, string, number][] = [
      ['multipart/form-data', 'x', 400],
      [boundary, '', 400],
      [boundary, '--xx\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf', 400],
      [boundary, '--xx\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\nx\r\n--xx--\r\n', 400],
      [boundary, '--xx--\r\n', 400],
      [boundary, '--xx\r\n'.repeat(50), 400],
    ];
    for (const [type, body, status] of bodies) {
      const answer = await send(`/projects/${projectId}/files/`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      assert.equal(answer.status, status, `${type} ${JSON.stringify(body)}: ${await answer.text()}`);
    }
    await leftAs(before);
    assert.equal((await queryDatabase(stack, `SELECT FROM file_copies WHERE status <> 'stored'`)).length, 0);
  });

  it('have links that need no credentials, each to one file and with an expiry', async () => {
    const file = await upload('linked');
    const made = await api.post<{ url: string }>(`/files/${file.file_id}/link/`, { body: { expires_in: 10 } });
    assert.equal(made.status, 201);
    const { url } = made.body;
    const open = async (at: string): Promise<[number, string]> => {
      const response = await fetch(at);
      return [response.status, await response.text()];
    };
    assert.deepEqual(await open(url), [200, 'linked']);
    assert.equal((await fetch(url, { headers: { range: 'bytes=0-2' } })).status, 206);
    const [status, text] = await open(url.replace(/.\/$/, (end) => (end === 'A/' ? 'B/' : 'A/')));
    assert.deepEqual([status, (JSON.parse(text) as { code: string }).code], [403, 'link_invalid']);
    for (const seconds of [9, 86_401, 1.5, 'x'])
      assert.equal((await api.post(`/files/${file.file_id}/link/`, { body: { expires_in: seconds } })).status, 400);
    await new Promise((resolve) => setTimeout(resolve, 10_500));
    const [late, why] = await open(url);
    assert.deepEqual([late, (JSON.parse(why) as { code: string }).code], [403, 'link_expired']);
    await api.delete(`/files/${file.file_id}/`);
  });

  it('are for members: others get a 404, and viewers cannot upload or delete any', async () => {
    const file = await upload('members only');
    const [viewer, stranger] = [await createAccount(stack), await createAccount(stack)];
    await giveRole(stack, viewer, projectId, 'viewer');
    const as = async (key: string, method: string, at: string, body?: string): Promise<number> =>
      (await fetch(`${stack.apiUrl}/api/v1${at}`, { method, headers: { 'X-API-Key': key }, ...(body && { body }) }))
        .status;
    const ways: [string, string, number, number][] = [
      ['GET', `/files/${file.file_id}/`, 200, 404],
      ['GET', `/files/${file.file_id}/content/`, 200, 404],
      ['POST', `/files/${file.file_id}/link/`, 403, 404],
      ['DELETE', `/files/${file.file_id}/`, 403, 404],
      ['GET', `/projects/${projectId}/files/`, 200, 404],
      ['POST', `/projects/${projectId}/files/`, 403, 404],
    ];
    for (const [method, at, forViewer, forStranger] of ways) {
      const body = method === 'POST' && at.startsWith('/projects') ? 'x' : undefined;
      assert.equal(await as(viewer.apiKey, method, at, body), forViewer, `viewer ${method} ${at}`);
      assert.equal(await as(stranger.apiKey, method, at, body), forStranger, `stranger ${method} ${at}`);
    }
    for (const id of ['x', '00000000-0000-0000-0000-000000000000'])
      assert.equal((await api.get(`/files/${id}/`)).status, 404);
  });

  it('have sanitized names and types, and are sent as attachments', async () => {
    const form = (name: string, type: string): string =>
      `--xx\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n<script>\r\n--xx--\r\n`;
    const names: [string, string, string, string][] = [
      ['../../etc/passwd', 'text/html', 'passwd', 'text/html'],
      ['a\u202Efdp.exe', 'image/svg+xml', 'a fdp.exe', 'image/svg+xml'],
      ['..', 'nonsense', 'file', 'application/octet-stream'],
    ];
    for (const [name, type, cleaned, cleanType] of names) {
      const answer = await send(`/projects/${projectId}/files/`, {
        method: 'POST',
        body: form(name, type),
        headers: { 'content-type': 'multipart/form-data; boundary=xx' },
      });
      const file = (await answer.json()) as FileValue;
      assert.deepEqual([file.name, file.type], [cleaned, cleanType]);
      const [, , headers] = await bytesOf(file.file_id);
      assert.match(headers.get('content-disposition') ?? '', /^attachment/);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    }
    const encoded = await send(`/projects/${projectId}/files/`, {
      method: 'POST',
      body: 'x',
      headers: { 'x-file-name': '%ff' },
    });
    assert.equal(encoded.status, 400);
  });

  it('are a 404 if they are deleted after their row was read and before their bytes', async () => {
    const { file_id: id } = await upload('short-lived');
    const { deps, close } = sweepingDeps(stack);
    const read = async (): Promise<never> => {
      await api.delete(`/files/${id}/`);
      throw new MissingBytesError(id);
    };
    const lost = async (): Promise<never> => Promise.reject(new MissingBytesError(id));
    const ask = (reads: () => Promise<never>) => {
      const asked = { range: undefined, 'if-range': undefined, 'if-none-match': undefined };
      return sendBytesOf({ db: deps.db, files: { ...deps.files, read: reads } }, id, asked, NEVER);
    };
    try {
      await assert.rejects(ask(lost), MissingBytesError, 'lost by the service');
      await assert.rejects(ask(read), { status: 404 });
    } finally {
      await close();
    }
  });

  it('are either used by a run or deleted before it, when start and deletion are concurrent', async () => {
    const take = drawing(linkInRow([trigger([{ id: 'paper', type: 'file' }]), node('wait', { mode: 'callback' })]));
    const workflowId = await api.createWorkflow(projectId, take);
    const outcomes = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const { file_id: id } = await upload(`round ${round}`);
      const [{ body: started }, deleted] = await Promise.all([
        api.post<{ status: number; data: { id: string | null } }>(`/workflows/${workflowId}/run/`, {
          body: { paper: id },
        }),
        api.delete(`/files/${id}/`),
      ]);
      outcomes.add(`${started.status} ${deleted.status}`);
      await api.post(`/workflows/${workflowId}/history/${started.data.id}/cancel/`);
    }
    for (const outcome of outcomes) assert.match(outcome, /^(?:201 409|422 204)$/);
  });

  it('are recorded as deleted once, and not while a run in flight holds them', async () => {
    const take = drawing(linkInRow([trigger([{ id: 'paper', type: 'file' }]), node('wait', { mode: 'callback' })]));
    const workflowId = await api.createWorkflow(projectId, take);
    const { file_id: id } = await upload('held');
    const recorded = () =>
      queryDatabase(stack, `SELECT outcome FROM audit_records WHERE action = 'file.deleted' AND target_id = $1`, [id]);
    const { data: run } = await api.run(workflowId, { paper: id });
    assert.equal((await api.delete(`/files/${id}/`)).status, 409);
    assert.deepEqual(await recorded(), []);
    await api.post(`/workflows/${workflowId}/history/${run.id}/cancel/`);
    await api.pollToEnd(run.id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.delete(`/files/${id}/`)));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((one, other) => one - other),
      [204, ...Array<number>(7).fill(404)],
    );
    assert.deepEqual(await recorded(), [{ outcome: 'success' }]);
  });

  it('that nothing uses are deleted after a day, with their bytes', async () => {
    const file = await upload(randomBytes(500));
    const before = (await stored()).length;
    await queryDatabase(
      stack,
      `UPDATE files SET created_at = now() - interval '25 hours' WHERE id = '${file.file_id}'`,
    );
    const swept = sweepingDeps(stack);
    while (await sweepFiles(swept.deps));
    await swept.close();
    assert.equal((await api.get(`/files/${file.file_id}/`)).status, 404);
    assert.equal((await stored()).length, before - 1);
  });
});
