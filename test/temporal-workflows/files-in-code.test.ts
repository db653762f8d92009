import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createApiClient, type ApiClient, type Envelope } from '../support/api-client.js';
import { drawing, linkInRow, node, trigger } from '../support/graphs.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../support/stack.js';
import { createFileClient, type FileValue } from '../support/upload.js';

const MIB = 1024 * 1024;

describe('files in code', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let files: ReturnType<typeof createFileClient>;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    files = createFileClient(stack);
    projectId = await api.createProject();
  });

  const begin = () => trigger([{ id: 'docs', title: 'Documents', type: 'files' }] as Record<string, unknown>[]);
  async function ended(code: string, docs: unknown[] = [], settings: object = { timeout: 30 }) {
    const step = node('code', { code, inputs: { docs: '{{ input.docs }}' }, settings });
    const workflow = await api.createWorkflow(projectId, drawing(linkInRow([begin(), step])));
    const started = await api.run(workflow, { docs });
    assert.equal(started.status, 201, JSON.stringify(started));
    const { data }: Envelope = await api.pollToEnd(started.data.id);
    return data.data![step.id]!;
  }
  async function valueOf(code: string, docs: unknown[] = []): Promise<unknown> {
    const { result, error } = await ended(code, docs);
    assert.equal(error, undefined, JSON.stringify(error));
    return result!['value'];
  }
  async function errorOf(code: string, docs: unknown[] = [], settings?: object): Promise<[string, string]> {
    const { error } = await ended(code, docs, settings);
    return [error!.code, error!.message];
  }

  it('code reads texts, bytes and JSON, and saves texts and bytes as files of the run', async () => {
    const text = await files.upload(projectId, 'a,b\nä\0€😀', 'a.csv');
    const json = await files.upload(projectId, '\ufeff{"n": [1, 2]}', 'a.json');
    const bytes = randomBytes(70_000);
    const binary = await files.upload(projectId, bytes, 'a.bin');
    const saved = (await valueOf(
      `const [text, json, binary] = inputs.docs;
      const bytes = await file(binary).bytes();
      const [t, j] = await Promise.all([file(text).text(), file(json).json()]);
      return {
        t, sum: j.n[0] + j.n[1], isBytes: bytes instanceof Uint8Array, length: bytes.length,
        csv: await save('C:\\\\x\\\\out.csv', t + 'x', 'text/csv'),
        plain: await save('plain', ''),
        half: await save('half.bin', bytes.subarray(1, 35000)),
        buffer: await save('all.bin', bytes.buffer, 'a/b'),
      };`,
      [text, json, binary],
    )) as Record<string, unknown>;
    assert.deepEqual(
      [saved['t'], saved['sum'], saved['isBytes'], saved['length']],
      ['a,b\nä\ufffd€😀', 3, true, 70_000],
    );
    const expected: [string, string, string, Buffer][] = [
      ['csv', 'out.csv', 'text/csv', Buffer.from('a,b\nä\0€😀x')],
      ['plain', 'plain', 'text/plain', Buffer.alloc(0)],
      ['half', 'half.bin', 'application/octet-stream', bytes.subarray(1, 35_000)],
      ['buffer', 'all.bin', 'a/b', bytes],
    ];
    for (const [key, name, type, content] of expected) {
      const value = saved[key] as FileValue;
      const sha256 = createHash('sha256').update(content).digest('hex');
      assert.deepEqual({ ...value, file_id: '' }, { file_id: '', name, type, size: content.length, sha256 });
      assert.ok((await files.bytesOf(value.file_id))[1].equals(content), key);
      const { used_by: usedBy } = (await api.get<{ used_by: { runs: number } }>(`/files/${value.file_id}/`)).body;
      assert.equal(usedBy.runs, 1);
    }
  });

  it('a file that is not there, or of another project, is file_missing, which code may catch', async () => {
    const elsewhere = await files.upload(await api.createProject(), 'secret');
    const sneak = (then: string) => `return await file({ file_id: '${elsewhere.file_id}' }).text()${then}`;
    assert.equal((await errorOf(sneak('')))[0], 'file_missing');
    assert.equal(await valueOf(sneak('.catch((error) => error.code)')), 'file_missing');
    assert.deepEqual(await errorOf('return await file("x").text()'), [
      'code_error',
      'TypeError: file() needs a file (line 1)',
    ]);
    assert.equal((await errorOf('return await file({ file_id: "x".repeat(1e6) }).text()'))[0], 'file_missing');
    const forged = 'throw Object.assign(new Error("x"), { code: "file_missing" })';
    assert.equal((await errorOf(forged))[0], 'code_error', 'code makes up no errors of the service');
    assert.equal((await errorOf('await save("x", 7)'))[0], 'code_error');
  });

  it('code reads and saves 16 MiB together, and not a byte more', async () => {
    const half = await files.upload(projectId, randomBytes(8 * MIB), 'half.bin');
    const both = (more: number) =>
      `const bytes = await file(inputs.docs[0]).bytes(); return (await save('b', new Uint8Array(${8 * MIB + more}))).size`;
    assert.equal(await valueOf(both(0), [half]), 8 * MIB);
    assert.equal((await errorOf(both(1), [half]))[0], 'file_too_large');
    const text = `return (await save('t', 'x'.repeat(${16 * MIB}))).size`;
    assert.equal(await valueOf(text), 16 * MIB);
    assert.equal((await errorOf(text.replace(')).size', " + 'x')).size")))[0], 'file_too_large');
    const large = await files.upload(projectId, Buffer.alloc(17 * MIB), 'large.bin');
    assert.equal((await errorOf('return (await file(inputs.docs[0]).bytes()).length', [large]))[0], 'file_too_large');
    const whole = await files.upload(projectId, Buffer.alloc(16 * MIB, 'y'), 'whole.txt');
    assert.equal(await valueOf('return (await file(inputs.docs[0]).text()).length', [whole]), 16 * MIB);
  });

  it('what does not end, fills the memory or calls for ever ends as other code does', async () => {
    assert.equal((await errorOf('for (;;) await save("x", "y")', [], { timeout: 1 }))[0], 'code_timeout');
    const many = 'for (let i = 0; i <= 1000; i += 1) await file(inputs.docs[0]).text()';
    const small = await files.upload(projectId, 'x');
    assert.equal((await errorOf(many, [small]))[0], 'file_too_large');
    const large = await files.upload(projectId, Buffer.alloc(16 * MIB, 'y'));
    const full =
      'const held = new Uint8Array(45e6).fill(1); return (await file(inputs.docs[0]).text()).length + held[0]';
    assert.equal((await errorOf(full, [large]))[0], 'code_memory');
    assert.equal((await errorOf('return await new Promise(() => {})'))[0], 'code_error');
    assert.equal(await valueOf('delete globalThis.Promise; Array.prototype.push = null; return 1'), 1);
  });
});
