import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { pdfOf, PNG } from '../support/documents.js';
import type { FileValue } from '../support/upload.js';
import { useCodeWithFiles } from './code-with-files.js';

describe('files in code', function () {
  this.timeout(120_000);
  const { world, valueOf, errorOf } = useCodeWithFiles();

  it('code reads texts, bytes and JSON, and saves texts and bytes as files of the run', async () => {
    const { api, files, projectId } = world();
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

  it('integers beyond 2^53 in the JSON of a file are BigInt, as those of inputs are', async () => {
    const { files, projectId } = world();
    const exact =
      '{"id":9007199254740993,"list":[-18446744073709551615,9007199254740992,9007199254740991,1.5,0.12345678901234567890],' +
      '"text":"9007199254740993 \\"9007199254740993"}';
    const json = await files.upload(projectId, exact, 'a.json');
    const broken = await files.upload(projectId, '{9007199254740993: 1}', 'b.json');
    assert.deepEqual(
      await valueOf(
        `const [json, broken] = inputs.docs;
        const { id, list, text } = await file(json).json();
        const fails = await file(broken).json().catch((error) => error.name);
        return [typeof id, String(id + 1n), list.map((n) => typeof n + ' ' + n), text, fails];`,
        [json, broken],
      ),
      [
        'bigint',
        '9007199254740994',
        [
          'bigint -18446744073709551615',
          'bigint 9007199254740992',
          'number 9007199254740991',
          'number 1.5',
          'number 0.12345678901234568',
        ],
        '9007199254740993 "9007199254740993',
        'SyntaxError',
      ],
    );
  });

  it('code reads texts in the encoding that was declared with them, and none that is wrong', async () => {
    const { files, projectId } = world();
    const gbk = Buffer.from('d0d5c3fb', 'hex');
    const raw = await files.send(`/projects/${projectId}/files/`, {
      method: 'POST',
      body: gbk,
      headers: { 'Content-Type': 'text/csv; charset=gbk', 'X-File-Name': 'raw.csv' },
    });
    const docs = [
      await files.upload(projectId, gbk, 'part.csv', 'text/csv; charset=gbk'),
      (await raw.json()) as FileValue,
      await files.upload(projectId, Buffer.from('\x80 5', 'latin1'), 'latin1.csv', 'text/csv;charset=iso-8859-1'),
      await files.upload(projectId, Buffer.from('größe', 'utf16le'), 'utf16.txt', 'text/plain; charset=utf-16le'),
      await files.upload(
        projectId,
        Buffer.from('{"a":"ä"}', 'utf16le'),
        'a.json',
        'application/json; charset=utf-16le',
      ),
      await files.upload(projectId, Buffer.from('82b182f182c982bf82cd90a28a45', 'hex'), 'told.txt', 'text/plain'),
      await files.upload(projectId, pdfOf(''), 'scan.pdf', 'application/pdf'),
      await files.upload(projectId, gbk, 'wrong.csv', 'text/csv; charset=utf-8'),
      await files.upload(projectId, PNG, 'image.png', 'image/png'),
    ];
    assert.deepEqual(
      docs.slice(0, 2).map(({ type }) => type),
      ['text/csv; charset=gbk', 'text/csv; charset=gbk'],
    );
    const code = `const texts = [];
      for (const doc of inputs.docs) texts.push(await file(doc).text().catch((error) => error.code));
      return [...texts, await file(inputs.docs[4]).json()];`;
    const json = '{"a":"ä"}';
    const expected = [
      '姓名',
      '姓名',
      '€ 5',
      'größe',
      json,
      'こんにちは世界',
      '',
      'file_encoding',
      'file_encoding',
      { a: 'ä' },
    ];
    assert.deepEqual(await valueOf(code, docs), expected);
    const uncaught = await errorOf('return await file(inputs.docs[0]).text()', [docs.at(-1)]);
    assert.equal(uncaught[0], 'file_encoding');
  });

  it('a file that is not there, or of another project, is file_missing, which code may catch', async () => {
    const { api, files } = world();
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
});
