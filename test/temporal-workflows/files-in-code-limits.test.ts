import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { useCodeWithFiles } from './code-with-files.js';

const MIB = 1024 * 1024;

describe('limits of files in code', function () {
  this.timeout(600_000);
  const { world, valueOf, errorOf } = useCodeWithFiles();

  it('code reads and saves 16 MiB together, and not a byte more', async () => {
    const { files, projectId } = world();
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

  it('what does not end or fills the memory ends as other code does', async () => {
    const { files, projectId } = world();
    assert.equal((await errorOf('for (;;) await save("x", "y")', [], { timeout: 1 }))[0], 'code_timeout');
    const large = await files.upload(projectId, Buffer.alloc(16 * MIB, 'y'));
    const full =
      'const held = new Uint8Array(45e6).fill(1); return (await file(inputs.docs[0]).text()).length + held[0]';
    assert.equal((await errorOf(full, [large]))[0], 'code_memory');
    assert.equal((await errorOf('return await new Promise(() => {})'))[0], 'code_error');
    assert.equal(await valueOf('delete globalThis.Promise; Array.prototype.push = null; return 1'), 1);
  });
});
