import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { findCanaries, readFiles, watch } from '../support/canary.js';
import { docxOf, encryptedPdf, pdfOf, PNG, xlsxOf } from '../support/documents.js';
import { startFakeMcpServer, type FakeMcpServer } from '../support/fake-mcp-server.js';
import type { ModelAnswer } from '../../harness/target/fake-model-provider.js';
import {
  agent,
  drawing,
  linkInRow,
  llm,
  mcp,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { historyOf, queryDatabase, tablesWith, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';

const MIB = 1024 * 1024;
/** The time-out for code, which has a low priority and so starts late on a busy machine. */
const UNHURRIED = { timeoutMs: 90_000 };
const SEES = 'model-that-sees';
const READS_PDF = 'model-that-reads-pdf';
const HEARS = 'model-that-hears';

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
  file?: { filename: string; file_data: string };
  input_audio?: { data: string; format: string };
}

describe('files of messages', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let servers: FakeMcpServer;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
    servers = await startFakeMcpServer();
    projectId = await api.createProject();
    for (const model of [SEES, READS_PDF, HEARS, 'blind-model']) stack.modelProvider.script(model, { text: 'seen' });
  });
  after(() => servers.close());

  const begin = () =>
    trigger([
      { id: 'docs', title: 'Documents', type: 'files' },
      { id: 'doc', title: 'Document', type: 'file' },
    ] as Record<string, unknown>[]);
  async function startOf(nodes: DrawingNode[], input: unknown): Promise<Envelope & { workflow: number }> {
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow(nodes)));
    return { workflow, ...(await api.run(workflow, input)) };
  }
  async function runOf(nodes: DrawingNode[], input: unknown = {}) {
    const { workflow, ...started } = await startOf(nodes, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    return { workflow, runId: started.data.id, ...(await api.pollToEnd(started.data.id, UNHURRIED)).data };
  }
  const asking = (model: string, given: unknown) =>
    llm('', { messages: [{ role: 'user', message: 'Look', files: given }], settings: { model_name: model } });
  const contentOf = (model: string) => stack.modelProvider.requestsFor(model).at(-1)!.messages[0]!.content;
  async function sent(model: string, given: unknown, input: unknown = {}): Promise<string | Part[]> {
    const ask = asking(model, given);
    const { data } = await runOf([begin(), ask], input);
    assert.equal(data![ask.id]!.error, undefined, JSON.stringify(data![ask.id]!.error));
    return contentOf(model) as string | Part[];
  }
  async function refused(model: string, given: unknown, input: unknown = {}): Promise<[string, string]> {
    const before = stack.modelProvider.requestsFor(model).length;
    const ask = asking(model, given);
    const { error } = (await runOf([begin(), ask], input)).data![ask.id]!;
    assert.equal(stack.modelProvider.requestsFor(model).length, before, 'the model was called');
    return [error!.code, error!.message];
  }
  const bytesIn = (uri: string) => Buffer.from(uri.slice(uri.indexOf(',') + 1), 'base64');

  it('reach a model as content parts where it takes them, by their bytes and not by their type', async () => {
    const pdf = pdfOf('Invoice 7703');
    const image = await files.upload(projectId, PNG, 'photo.jpg', 'image/jpeg');
    const invoice = await files.upload(projectId, pdf, 'invoice.pdf', 'text/plain');
    const note = await files.upload(projectId, 'a,b\n1,2', 'note.csv', 'image/png');
    const content = await sent(READS_PDF, [image, '{{ input.doc }}', '{{ input.docs }}', ''], {
      doc: invoice,
      docs: [note],
    });
    const [text, picture, document, csv, ...more] = content as Part[];
    assert.deepEqual(
      [text, csv, more],
      [{ type: 'text', text: 'Look' }, { type: 'text', text: 'note.csv:\na,b\n1,2' }, []],
    );
    assert.equal(picture!.type, 'image_url');
    assert.match(picture!.image_url!.url, /^data:image\/png;base64,/);
    assert.ok(bytesIn(picture!.image_url!.url).equals(PNG));
    assert.deepEqual([document!.type, document!.file!.filename], ['file', 'invoice.pdf']);
    assert.match(document!.file!.file_data, /^data:application\/pdf;base64,/);
    assert.ok(bytesIn(document!.file!.file_data).equals(pdf));
  });

  it('reach a model that does not take them as their text, and nothing that has none', async () => {
    const upload = (bytes: Buffer | string, name: string) => files.upload(projectId, bytes, name);
    const docs = [
      await upload(pdfOf('Invoice 7703'), 'a.pdf'),
      await upload(docxOf('Dear'), 'a.docx'),
      await upload(xlsxOf([[1, 2]]), 'a.xlsx'),
    ];
    const expected = 'Look\n\na.pdf:\nInvoice 7703\n\na.docx:\nDear\n\na.xlsx:\nPrices\n1,2';
    assert.equal(await sent(SEES, '{{ input.docs }}', { docs }), expected);
    const image = await upload(PNG, 'a.txt');
    const binary = await upload(randomBytes(100), 'a.txt');
    assert.deepEqual(await refused('blind-model', [image]), [
      'file_type',
      'The model "blind-model" does not take the file "a.txt", which is an image.',
    ]);
    assert.equal((await refused(READS_PDF, [binary]))[0], 'file_type');
    assert.equal((await refused(SEES, [await upload(encryptedPdf(), 'b.pdf')]))[0], 'invalid_document');
    assert.equal(await sent('blind-model', '{{ input.doc }}'), 'Look', 'no file is given');
  });

  it('reach a model that hears as sound, in the format of their bytes, and no other model', async () => {
    const wav = Buffer.concat([Buffer.from('RIFF\x24\x08\0\0WAVEfmt ', 'latin1'), randomBytes(40_000)]);
    const mp3 = Buffer.concat([Buffer.from('fffb9064', 'hex'), randomBytes(400)]);
    const tagged = Buffer.concat([Buffer.from('ID3\x04\0'), randomBytes(400)]);
    const upload = (bytes: Buffer, name: string) => files.upload(projectId, bytes, name, 'application/octet-stream');
    const sounds = [await upload(wav, 'a.bin'), await upload(mp3, 'b.wav'), await upload(tagged, 'c')];
    const [text, ...parts] = (await sent(HEARS, '{{ input.docs }}', { docs: sounds })) as Part[];
    assert.deepEqual(text, { type: 'text', text: 'Look' });
    const expected = [
      { format: 'wav', data: wav.toString('base64') },
      { format: 'mp3', data: mp3.toString('base64') },
      { format: 'mp3', data: tagged.toString('base64') },
    ];
    assert.deepEqual(
      parts,
      expected.map((sound) => ({ type: 'input_audio', input_audio: sound })),
    );
    assert.deepEqual(await refused(READS_PDF, [sounds[0]]), [
      'file_type',
      'The model "model-that-reads-pdf" does not take the file "a.bin", which is a sound.',
    ]);
    assert.equal((await refused(HEARS, [await upload(PNG, 'picture')]))[0], 'file_type');
  });

  it('are read in their encoding, and what is text in none is refused', async () => {
    const gbk = Buffer.from('d0d5c3fb', 'hex');
    const docs = [
      await files.upload(projectId, gbk, 'gbk.csv', 'text/csv; charset=gbk'),
      await files.upload(projectId, Buffer.from('M\xfcller;K\xf6ln', 'latin1'), 'old.csv', 'text/csv'),
    ];
    const expected = 'Look\n\ngbk.csv:\n姓名\n\nold.csv:\nMüller;Köln';
    assert.equal(await sent(SEES, '{{ input.docs }}', { docs }), expected);
    const wrong = await files.upload(projectId, gbk, 'wrong.csv', 'text/csv; charset=utf-8');
    assert.deepEqual(await refused(SEES, [wrong]), [
      'file_encoding',
      'The file "wrong.csv" cannot be read as text: it is not in its encoding, utf-8.',
    ]);
  });

  it('without text fail for a model that takes their text alone, which is not called', async () => {
    const scans = [pdfOf(''), pdfOf('  '), docxOf(''), docxOf('\u00a0\u200b')];
    for (const [at, bytes] of scans.entries()) {
      const name = at < 2 ? 'scan.pdf' : 'scan.docx';
      const [code, message] = await refused(SEES, [await files.upload(projectId, bytes, name)]);
      assert.deepEqual([code, message.includes(`"${name}"`)], ['file_without_text', true], message);
    }
    const content = await sent(READS_PDF, [await files.upload(projectId, pdfOf(''), 'scan.pdf')]);
    assert.equal((content as Part[])[1]!.type, 'file', 'a model that takes PDF looks at it');
    assert.equal(await sent(SEES, [await files.upload(projectId, '', 'empty.txt')]), 'Look\n\nempty.txt:\n');
    const messages = [{ role: 'user', message: 'Look', files: ['{{ input.doc }}'] }];
    const step = agent('', {}, [], { messages });
    const { data } = await runOf([begin(), step], { doc: await files.upload(projectId, pdfOf(''), 'scan.pdf') });
    assert.equal(data![step.id]!.error?.code, 'file_without_text');
  });

  it('that are not there, are another project’s or too large are refused before the model is called', async () => {
    const elsewhere = await files.upload(await api.createProject(), 'secret');
    const literal = await startOf([begin(), asking(SEES, [elsewhere])], {});
    assert.equal(literal.status, 422, JSON.stringify(literal));
    for (const wrong of [['x'], [{ id: 1 }], 'text {{ input.doc }}', 7]) {
      assert.equal((await startOf([begin(), asking(SEES, wrong)], {})).status, 422, JSON.stringify(wrong));
    }
    for (const key of ['doc', 'n']) {
      const set = node('set', { value: { doc: elsewhere, n: 7 } });
      const ask = asking(SEES, [resultOf(set, `value.${key}`)]);
      const { data } = await runOf([begin(), set, ask]);
      assert.equal(data![ask.id]!.error?.code, 'file_missing');
    }
    const large = await files.upload(projectId, Buffer.alloc(9 * MIB, 'x'), 'large.txt');
    const [code, message] = await refused(SEES, [large, large]);
    assert.deepEqual([code, /16777216 bytes/.test(message)], ['file_too_large', true]);
    const most = await files.upload(projectId, Buffer.concat([PNG, Buffer.alloc(16 * MIB - PNG.length)]), 'large.png');
    const content = (await sent(SEES, [most])) as Part[];
    assert.equal(bytesIn(content[1]!.image_url!.url).length, 16 * MIB);
  });

  it('reserve 2,000 tokens an image, and one for every 6 bytes of a PDF', async () => {
    const reservedOf = async (given: unknown[]): Promise<number> => {
      const ask = asking(READS_PDF, given);
      const { runId } = await runOf([begin(), ask]);
      const paid = (await transactionsOf(stack, runId)).find(({ node_id: id }) => id === ask.id);
      return Math.round(Number(paid!.amount_usd) * 1_000_000);
    };
    // A call without usage costs the amount reserved for its prompt. The test's model costs a dollar for a million
    // tokens.
    const message = { role: 'assistant', content: 'seen' };
    stack.modelProvider.script(READS_PDF, { body: { choices: [{ index: 0, message, finish_reason: 'stop' }] } });
    const large = Buffer.concat([pdfOf('x'), Buffer.alloc(600_000)]);
    const image = await files.upload(projectId, Buffer.concat([PNG, randomBytes(300_000)]), 'i');
    const pdf = await files.upload(projectId, large, 'p');
    const none = await reservedOf([]);
    // The JSON around a part counts as text.
    const near = (tokens: number, expected: number) =>
      assert.ok(tokens >= expected && tokens < expected + 60, `${tokens}`);
    near((await reservedOf([image])) - none, 2_000);
    near((await reservedOf([image, pdf])) - none, 2_000 + Math.ceil(large.length / 6));
    stack.modelProvider.script(READS_PDF, { text: 'seen' });
  });

  it('are loaded for each call of an agent, whose result names the files that its tools gave', async () => {
    const core = randomBytes(12).toString('hex');
    const endpoint = servers.endpoint({
      'tools/list': () => ({ tools: [{ name: 'draw', inputSchema: { type: 'object' } }] }),
      'tools/call': () => ({
        content: [
          { type: 'image', mimeType: 'image/png', data: Buffer.concat([PNG, Buffer.from(core)]).toString('base64') },
          { type: 'text', text: 'Files: [{"file_id": "00000000-0000-0000-0000-000000000000"}]' },
        ],
      }),
    });
    const call: ModelAnswer = { toolCalls: [{ name: 'draw', arguments: {} }] };
    const model = READS_PDF;
    let asked = 0;
    stack.modelProvider.script(model, () => ((asked += 1) === 1 ? call : { text: 'done' }));
    try {
      const doc = await files.upload(projectId, PNG, 'photo.png');
      const step = agent('Draw', { model_name: model }, [{ endpoint_url: endpoint.url, require_approval: 'never' }], {
        messages: [{ role: 'user', message: 'Draw', files: '{{ input.doc }}' }],
      });
      const { data, status } = await runOf([begin(), step], { doc });
      assert.equal(status, 'succeed', JSON.stringify(data));
      const [made, ...more] = data![step.id]!.result!['files'] as FileValue[];
      assert.deepEqual([made!.name, made!.type, more], ['draw-1.png', 'image/png', []]);
      assert.ok((await files.bytesOf(made!.file_id))[1].equals(Buffer.concat([PNG, Buffer.from(core)])));
      const [first, second] = stack.modelProvider.requestsFor(model).slice(-2);
      for (const request of [first!, second!]) {
        const [, picture] = request.messages[0]!.content as Part[];
        assert.ok(bytesIn(picture!.image_url!.url).equals(PNG));
      }
      const answer = String(second!.messages.at(-1)!.content);
      assert.ok(answer.endsWith(`Files: ${JSON.stringify([made])}`), answer);
      assert.deepEqual(findCanaries(second!.text, [watch('image', core)]), []);
    } finally {
      stack.modelProvider.script(model, { text: 'seen' });
    }
  });

  it('no byte of a file is in a result, poll, event, log, row or in Temporal', async () => {
    const [upload, made, tool] = ['upload', 'made', 'tool'].map((name) => watch(name, randomBytes(12).toString('hex')));
    const canaries = [upload!, made!, tool!];
    const valueOf = ({ forms }: { forms: string[] }): string => forms[0]!;
    const image = (text: string) => Buffer.concat([PNG, Buffer.from(text)]);
    const endpoint = servers.endpoint({
      'tools/list': () => ({ tools: [{ name: 'draw', inputSchema: { type: 'object' } }] }),
      'tools/call': () => ({
        content: [{ type: 'image', mimeType: 'image/png', data: image(valueOf(tool!)).toString('base64') }],
      }),
    });
    const model = `files-${randomUUID()}`;
    stack.modelProvider.script(model, ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'done' }
        : { toolCalls: [{ name: 'draw', arguments: {} }] },
    );
    stack.modelProvider.script(SEES, {
      status: 400,
      error: { message: `no such image data:image/png;base64,${image(valueOf(upload!)).toString('base64')}` },
    });
    try {
      const doc = await files.upload(projectId, image(valueOf(upload!)), 'photo.png');
      const code = node('code', {
        // The code composes the text, so that the drawing does not contain it.
        code: `const bytes = await file(inputs.doc).bytes();
          const text = ['${valueOf(made!).slice(0, 8)}', '${valueOf(made!).slice(8)}'].join('');
          return { file: await save('made.txt', text), size: bytes.length };`,
        inputs: { doc: '{{ input.doc }}' },
        timeout: 30,
      });
      const pictures = mcp(endpoint.url, 'draw');
      const asked = agent('Draw', { model_name: model }, [{ endpoint_url: endpoint.url, require_approval: 'never' }]);
      const look = asking(READS_PDF, ['{{ input.doc }}', resultOf(code, 'value.file'), resultOf(pictures, 'files.0')]);
      const refusing = { ...asking(SEES, ['{{ input.doc }}']) };
      refusing.data['on_error'] = 'continue';
      const run = await runOf([begin(), code, pictures, asked, look, refusing], { doc });
      const { data, runId, workflow } = run;
      for (const step of [code, pictures, asked, look]) {
        assert.equal(data![step.id]!.status, 'succeed', JSON.stringify(data![step.id]));
      }
      assert.equal(data![refusing.id]!.error!.code, 'provider_error');
      const given = contentOf(READS_PDF) as Part[];
      assert.equal(given.length, 4);
      assert.equal(findCanaries(JSON.stringify(given), canaries).length, 3, 'the model has got the bytes');
      const place = `/workflows/${workflow}/history/${runId}`;
      const steps = await api.get(`${place}/nodes/${asked.id}/steps/`);
      assert.match(JSON.stringify(steps.body), /Files: /);
      const details = await Promise.all([api.get(`${place}/`), api.get(`/workflows/${workflow}/history/`)]);
      const told = JSON.stringify([run, steps.body, details]);
      assert.deepEqual(findCanaries(told, canaries), [], 'an answer');
      const history = (await historyOf(stack, runId)).map(({ text }) => text).join('\n');
      assert.deepEqual(findCanaries(history, canaries), [], 'Temporal');
      const tables = await queryDatabase<{ name: string }>(
        stack,
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
      );
      const forms = canaries.flatMap((canary) => canary.forms);
      const names = tables.map(({ name }) => name);
      assert.deepEqual(await tablesWith(stack, names, forms), [], 'Postgres');
      for (const { file, text } of readFiles(stack.dataDir, /^(?!.*\.log$)/)) {
        assert.deepEqual(findCanaries(text, canaries), [], path.basename(file));
      }
    } finally {
      stack.modelProvider.script(SEES, { text: 'seen' });
    }
  });
});
