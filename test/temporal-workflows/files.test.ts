import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { makeStartHook } from '../api/hooks/hook-sender.js';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import {
  drawing,
  http as httpNode,
  linkInRow,
  node,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';
import { callBack, callbackUrlOf } from '../support/waiting.js';

interface Received {
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

describe('files in runs', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let projectId: number;
  let server: http.Server;
  let url: string;
  let received: Received[];
  let answer: { headers: Record<string, string>; body: Buffer; status?: number };

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
    projectId = await api.createProject();
    server = http.createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        received.push({ headers: request.headers, body: Buffer.concat(pieces) });
        if (request.url === '/redirect') response.writeHead(307, { location: '/there' }).end();
        else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());
  beforeEach(() => {
    received = [];
    answer = { headers: { 'content-type': 'text/plain' }, body: Buffer.from('thanks') };
  });

  const fileField = { id: 'doc', title: 'Document', type: 'file', input_requirements: true };
  const begin = (fields: object[] = [fileField]) => trigger(fields as Record<string, unknown>[]);
  async function runOf(nodes: DrawingNode[], input: unknown = {}): Promise<Envelope['data']> {
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow(nodes)));
    const started = await api.run(workflow, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    return (await api.pollToEnd(started.data.id)).data;
  }
  const usedBy = async (id: string) =>
    (await api.get<{ used_by: Record<string, number> }>(`/files/${id}/`)).body.used_by;
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  it('a file goes in by its id, out as the body of a request, and comes back as another file, byte for byte', async () => {
    const bytes = randomBytes(3_000_001);
    const file = await files.upload(projectId, bytes, 'photo.png', 'image/png');
    answer = {
      headers: { 'content-type': 'application/pdf', 'content-disposition': `attachment; filename="ä\\".pdf"` },
      body: bytes,
    };
    const call = httpNode(`${url}/there`, {
      method: 'PUT',
      body: { $file: '{{ input.doc }}' },
      settings: { response: 'auto' },
    });
    const run = await runOf([begin(), call], { doc: file.file_id });
    assert.equal(run.status, 'succeed', JSON.stringify(run.data));
    assert.equal(received.length, 1);
    assert.ok(received[0]!.body.equals(bytes));
    assert.equal(received[0]!.headers['content-type'], 'image/png');
    assert.equal(received[0]!.headers['content-length'], String(bytes.length));
    const result = run.data![call.id]!.result!;
    const made = result['file'] as FileValue;
    assert.deepEqual([made.type, made.size, made.sha256], ['application/pdf', bytes.length, sha256(bytes)]);
    assert.equal(result.content, made.name);
    assert.ok((await files.bytesOf(made.file_id))[1].equals(bytes));
    assert.equal((await usedBy(made.file_id))['runs'], 1);
    assert.equal((await usedBy(file.file_id))['runs'], 1);
    const input = JSON.parse(run.data!['trigger']?.result?.content ?? Object.values(run.data!)[0]!.result!.content) as {
      doc: FileValue;
    };
    assert.deepEqual(input.doc, file);
  });

  it('several files and texts go out as multipart, also behind a redirect', async () => {
    const [one, two] = [randomBytes(70_000), randomBytes(5)];
    const first = await files.upload(projectId, one, 'a "1".bin', 'a/b');
    const second = await files.upload(projectId, two, 'b.bin', 'a/b');
    const form = { many: '{{ input.docs }}', title: 'T {{ input.word }}', count: 3 };
    const call = httpNode(`${url}/redirect`, { method: 'POST', body: { $form: form } });
    const fields = [
      { id: 'docs', type: 'files' },
      { id: 'word', type: 'text' },
    ];
    const run = await runOf([begin(fields), call], { docs: [first, second.file_id], word: 'x' });
    assert.equal(run.status, 'succeed', JSON.stringify(run.data));
    assert.equal(received.length, 2);
    assert.equal(received[0]!.headers['content-length'], String(received[0]!.body.length));
    const { body, headers } = received[1]!;
    const parsed = await new Response(new Uint8Array(body), {
      headers: { 'content-type': headers['content-type']! },
    }).formData();
    const sent = parsed.getAll('many') as unknown as File[];
    assert.deepEqual(
      sent.map(({ name, type }) => [name, type]),
      [
        ['a "1".bin', 'a/b'],
        ['b.bin', 'a/b'],
      ],
    );
    assert.ok(Buffer.from(await sent[0]!.arrayBuffer()).equals(one));
    assert.ok(Buffer.from(await sent[1]!.arrayBuffer()).equals(two));
    assert.deepEqual([parsed.get('title'), parsed.get('count')], ['T x', '3']);
  });

  it('the answer is a text or a file as the node says, and as its type or its bytes say', async () => {
    const png = randomBytes(1000);
    png[3] = 0;
    const cases: [string, Record<string, string>, Buffer, 'text' | 'file'][] = [
      ['text', { 'content-type': 'image/png' }, png, 'text'],
      ['auto', { 'content-type': 'text/csv' }, Buffer.from('a,b'), 'text'],
      ['auto', { 'content-type': 'application/problem+json' }, Buffer.from('{}'), 'text'],
      ['auto', { 'content-type': 'application/xml' }, Buffer.from('<a/>'), 'text'],
      ['auto', { 'content-type': 'image/svg+xml' }, Buffer.from('<svg/>'), 'file'],
      ['auto', { 'content-type': 'application/octet-stream' }, Buffer.from('x'), 'file'],
      ['auto', {}, Buffer.from('plain ä'), 'text'],
      ['auto', {}, Buffer.from('M\xfcller;K\xf6ln', 'latin1'), 'text'],
      ['auto', {}, Buffer.from('<html><meta charset=gbk>\xd0\xd5', 'latin1'), 'text'],
      ['auto', {}, png, 'file'],
      ['file', { 'content-type': 'text/plain' }, Buffer.from('x'), 'file'],
      ['file', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync('packed'), 'file'],
      ['file', { 'content-type': 'text/csv; charset=gbk' }, Buffer.from('\xd0\xd5', 'latin1'), 'file'],
    ];
    for (const [response, headers, body, expected] of cases) {
      answer = { headers, body };
      const call = httpNode(`${url}/data/last.bin?x=1`, { settings: { response } });
      const run = await runOf([trigger(), call]);
      assert.equal(run.status, 'succeed', JSON.stringify(run.data));
      const result = run.data![call.id]!.result!;
      const file = result['file'] as FileValue | undefined;
      assert.equal(file === undefined ? 'text' : 'file', expected, `${response} ${JSON.stringify(headers)}`);
      if (file === undefined) continue;
      assert.deepEqual([file.name, file.type], ['last.bin', headers['content-type'] ?? 'application/octet-stream']);
      const plain = headers['content-encoding'] === 'gzip' ? Buffer.from('packed') : body;
      assert.ok((await files.bytesOf(file.file_id))[1].equals(plain));
    }
    answer = { headers: { 'content-type': 'image/png' }, body: Buffer.from('no such thing'), status: 404 };
    const call = httpNode(`${url}/there`, { settings: { response: 'file' } });
    const run = await runOf([trigger(), call]);
    assert.deepEqual(
      [run.data![call.id]!.error?.code, /no such thing/.test(run.data![call.id]!.error!.message)],
      ['http_status', true],
    );
  });

  it('a start brings its files along, in any order, and a refused or repeated one leaves none', async () => {
    const call = httpNode(`${url}/there`, { method: 'POST', body: { $file: '{{ input.doc }}' } });
    const [start] = linkInRow([begin([fileField, { id: 'note', type: 'text' }]), call]);
    assert.ok(start);
    const workflow = await api.createWorkflow(projectId, drawing([start, call]));
    const bytes = randomBytes(100_000);
    const count = async (): Promise<number> =>
      (await queryDatabase(stack, `SELECT id FROM files WHERE project_id = ${projectId}`)).length;
    const startWith = async (parts: [string, Blob | string, string?][], headers: Record<string, string> = {}) => {
      const form = new FormData();
      for (const [name, value, fileName] of parts) {
        if (typeof value === 'string') form.append(name, value);
        else form.append(name, value, fileName);
      }
      const response = await files.send(`/workflows/${workflow}/run/`, { method: 'POST', body: form, headers });
      return [response.status, (await response.json()) as Envelope] as const;
    };
    const before = await count();
    const key = { 'Idempotency-Key': `files-${workflow}` };
    const parts: [string, Blob | string, string?][] = [
      ['doc', new Blob([bytes], { type: 'a/b' }), 'x.bin'],
      ['input', JSON.stringify({ note: 'n' })],
    ];
    const [, first] = await startWith(parts, key);
    assert.equal(first.status, 201, JSON.stringify(first));
    const [, again] = await startWith(parts, key);
    assert.equal(again.data.id, first.data.id);
    const [status, other] = await startWith([['doc', new Blob(['other']), 'x.bin'], parts[1]!], key);
    assert.deepEqual([status, (other as unknown as { code: string }).code], [400, 'idempotency_mismatch']);
    const run = await api.pollToEnd(first.data.id);
    assert.equal(run.data.status, 'succeed', JSON.stringify(run));
    assert.ok(received[0]!.body.equals(bytes));
    assert.equal(await count(), before + 1);
    const refused: [[string, Blob | string, string?][], number, number][] = [
      [[['other', new Blob(['x']), 'x'], parts[0]!], 200, 422],
      [[['note', new Blob(['x']), 'x'], parts[0]!], 200, 422],
      [
        [
          ['doc', new Blob(['x']), 'x'],
          ['doc', new Blob(['y']), 'y'],
        ],
        200,
        422,
      ],
      [[parts[0]!, ['input', '[']], 400, 0],
      [[parts[0]!, ['input', '[1]']], 400, 0],
    ];
    for (const [some, outer, inner] of refused) {
      const [got, body] = await startWith(some);
      assert.deepEqual([got, outer === 200 ? body.status : 0], [outer, inner], JSON.stringify(body));
    }
    assert.equal(await count(), before + 1);
  });

  it('several files of a field keep their order, in every start, and the same request again is a repeat', async () => {
    const list = { id: 'docs', type: 'files' };
    const name = node('output', { value: '{{ input.docs }}' });
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([begin([list]), name])));
    const { url: hook } = await makeStartHook(api, workflow);
    const names = ['large.bin', 'b.txt', 'medium.bin', 'empty.txt', 'e.txt'];
    const contents = [randomBytes(400_000), Buffer.from('b'), randomBytes(90_000), Buffer.alloc(0), Buffer.from('e')];
    const sent = (): FormData => {
      const form = new FormData();
      for (const [index, bytes] of contents.entries()) form.append('docs', new Blob([bytes]), names[index]);
      return form;
    };
    const send = async (to: string): Promise<string> => {
      const headers = { 'X-API-Key': stack.apiKey, 'Idempotency-Key': `order of ${to}` };
      const ids: string[] = [];
      for (let time = 0; time < 2; time += 1) {
        const response = await fetch(to, { method: 'POST', body: sent(), headers });
        const body = (await response.json()) as { id?: string; data?: { id: string } };
        assert.ok(response.ok, JSON.stringify(body));
        ids.push(body.data?.id ?? body.id!);
      }
      assert.equal(ids[0], ids[1]);
      const { data } = await api.pollToEnd(ids[0]!);
      assert.deepEqual(
        (data.output as FileValue[]).map((file) => [file.name, file.sha256]),
        names.map((each, index) => [each, sha256(contents[index]!)]),
      );
      return ids[0]!;
    };
    const workflowUrl = `${stack.apiUrl}/api/v1/workflows/${workflow}`;
    const first = await send(`${workflowUrl}/run/`);
    await send(`${workflowUrl}/history/${first}/re-run/`);
    await send(hook);
  });

  it('what is no file of the project is refused before anything is called', async () => {
    const elsewhere = await files.upload(await api.createProject(), 'secret');
    const mine = await files.upload(projectId, 'mine');
    const call = (body: unknown) => httpNode(`${url}/there`, { method: 'POST', body });
    const start = async (nodes: DrawingNode[], input: unknown) => {
      const workflow = await api.createWorkflow(projectId, drawing(linkInRow(nodes)));
      return api.run(workflow, input);
    };
    for (const doc of [elsewhere.file_id, elsewhere, 'x', 7, [mine], { file_id: 'nope' }]) {
      const { status } = await start([begin(), call({ $file: '{{ input.doc }}' })], { doc });
      assert.equal(status, 422, JSON.stringify(doc));
    }
    assert.equal((await start([trigger(), call({ $file: elsewhere })], {})).status, 422);
    const plain = await start([trigger(), call({ file_id: elsewhere.file_id })], {});
    assert.equal(plain.status, 201, 'plain JSON');
    await api.pollToEnd(plain.data.id);
    const literal = await runOf([trigger(), call({ $file: { file_id: mine.file_id } })]);
    assert.equal(literal.status, 'succeed');
    assert.equal(String(received.at(-1)!.body), 'mine');
    const sneaked = node('set', { value: { doc: { file_id: elsewhere.file_id } } });
    const use = call({ $file: `{{ ${sneaked.id}.result.value.doc }}` });
    const run = await runOf([trigger(), sneaked, use]);
    assert.equal(run.data![use.id]!.error?.code, 'file_missing', JSON.stringify(run.data));
    assert.equal(received.filter(({ body }) => String(body) === 'secret').length, 0);
  });

  it('a file is held while its run is in flight, and gone for it afterwards', async () => {
    const file = await files.upload(projectId, 'held');
    const wait = node('wait', { mode: 'callback' });
    const use = httpNode(`${url}/there`, { method: 'POST', body: { $file: '{{ input.doc }}' } });
    const [start] = linkInRow([begin(), wait, use]);
    assert.ok(start);
    const workflow = await api.createWorkflow(projectId, drawing([start, wait, use]));
    const { data } = await api.run(workflow, { doc: file });
    const refused = await api.delete<{ code: string }>(`/files/${file.file_id}/`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'file_in_use']);
    await callBack(await callbackUrlOf(api, data.id, wait.id));
    assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    assert.equal((await api.delete(`/files/${file.file_id}/`)).status, 204);
    assert.equal((await api.get(`/files/${file.file_id}/`)).status, 404);
    const again = await api.post<Envelope>(`/workflows/${workflow}/history/${data.id}/re-run/`);
    assert.equal(again.status, 400, JSON.stringify(again.body));
    assert.equal((await api.run(workflow, { doc: file })).status, 422);
  });

  it('pins, cases, drawings and schedules refer to files as long as they hold them', async () => {
    const file = await files.upload(projectId, 'referred to');
    const call = (body: unknown) => httpNode(`${url}/there`, { method: 'POST', body });
    const [start, use] = linkInRow([begin(), call({ $file: file })]);
    const workflow = await api.createWorkflow(projectId, drawing([start!, use!]));
    const counts = async () => {
      const all = await usedBy(file.file_id);
      return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
    };
    assert.deepEqual(await counts(), { drawings: 1 });
    const changed = drawing(linkInRow([begin(), call('nothing')]));
    assert.equal((await api.patch(`/workflows/${workflow}/`, { body: { data: changed } })).status, 200);
    assert.deepEqual(await counts(), { drawings: 1 }, 'the earlier version is kept');
    const copy = await api.post<{ id: number }>(`/workflows/${workflow}/versions/1/restore/`);
    assert.equal(copy.status, 200, JSON.stringify(copy.body));
    assert.deepEqual(await counts(), { drawings: 2 });
    const pin = `/workflows/${workflow}/pins/${start!.id}/`;
    assert.equal((await api.put(pin, { body: { result: { content: 'x', doc: file } } })).status, 200);
    const made = await api.post<{ id: number }>(`/workflows/${workflow}/cases/`, {
      body: { name: 'one', input: { doc: file.file_id }, mocks: {}, expect: [] },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const schedules = `/workflows/${workflow}/schedules/`;
    const schedule = { cron: '0 0 1 1 *', is_paused: true, input: { doc: file.file_id } };
    const planned = await api.post<{ id: string }>(schedules, { body: schedule });
    assert.equal(planned.status, 201, JSON.stringify(planned.body));
    const unknown = { ...schedule, input: { doc: '00000000-0000-0000-0000-000000000000' } };
    assert.equal((await api.post(schedules, { body: unknown })).status, 400);
    const twin = await api.post<{ id: number }>(`/workflows/${workflow}/duplicate/`);
    assert.deepEqual(await counts(), { drawings: 3, pins: 2, cases: 2, schedules: 1 });
    await api.delete(`${schedules}${planned.body.id}/`);
    await api.delete(pin);
    await api.delete(`/workflows/${workflow}/cases/${made.body.id}/`);
    assert.deepEqual(await counts(), { drawings: 3, pins: 1, cases: 1 });
    await api.delete(`/workflows/${twin.body.id}/`);
    await api.delete(`/workflows/${workflow}/`);
    assert.deepEqual(await counts(), {}, 'a deleted workflow holds nothing');
  });
});
