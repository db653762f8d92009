// A compromised sandbox process may send anything, so the worker trusts none of its messages.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { toFrame } from '../../../../activities/kinds/code/child/messages.js';
import { createFrameReader } from '../../../../activities/kinds/code/child/frame-reader.js';
import { processFlags } from '../../../../activities/kinds/code/process-flags.js';
import { SandboxProcessError, startSandboxProcess } from '../../../../activities/kinds/code/sandbox-process.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { createGate } from '../../../../harness/timing/gate.js';
import { OWN_BUILD } from '../../../../harness/stack/supervisor.js';
import { ENTRY, isRunning, NEVER, program, sandboxProcessesOf } from './sandboxes.js';

describe('a sandbox process that was taken over', function () {
  this.timeout(120_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sandbox-process-'));
    symlinkSync(path.resolve(OWN_BUILD, '../node_modules'), path.join(folder, 'node_modules'));
  });
  after(() => rmSync(folder, { recursive: true }));

  let files = 0;
  /** Writes a program that reports that it is ready and then misbehaves as `then` says. Returns its path. */
  function taken(then: string): string {
    const file = path.join(folder, `taken-${(files += 1)}.mjs`);
    writeFileSync(
      file,
      `import { readSync, writeSync } from 'node:fs';
      const send = (text) => { const body = Buffer.from(text); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); raw(Buffer.concat([head, body])) };
      const raw = (bytes) => { for (let sent = 0; sent < bytes.length;) sent += writeSync(3, bytes, sent) };
      const receive = () => readSync(0, Buffer.alloc(65536));
      ${then}`,
    );
    return file;
  }
  const READY = `send('{"status":"ready"}'); receive();`;
  const STAYS = 'setInterval(() => {}, 1000);';

  async function assertRefused(then: string, message: RegExp, timeoutMs = 20_000) {
    const started = await startSandboxProcess(taken(then), NEVER);
    const startedAt = performance.now();
    await assert.rejects(
      started.run(program('return 1', {}, timeoutMs), NEVER),
      (error) => error instanceof SandboxProcessError && message.test(error.message),
    );
    assert.ok(performance.now() - startedAt < 15_000);
    assert.equal(started.isAlive, false);
    await eventually(() => !isRunning(started.pid));
  }

  for (const [what, then, message] of [
    ['a frame that is too long', 'raw(Buffer.from([255, 255, 255, 255]));', /frame of 4294967295 bytes/],
    [
      'a flood',
      'const b = Buffer.alloc(1 << 20, 1); b.writeUInt32BE(2500000); for (;;) raw(b);',
      /bytes after|no JSON|no reply/,
    ],
    ['no JSON', 'send("{");', /no JSON/],
    ['no text', 'const b = Buffer.alloc(8, 255); b.writeUInt32BE(4); raw(b);', /no JSON/],
    ['another status', 'send(\'{"status":"root"}\');', /no reply/],
    ['no JSON text as json', 'send(\'{"status":"returned","json":{"a":1},"logs":[]}\');', /no reply/],
    ['logs that are objects', 'send(\'{"status":"returned","json":"1","logs":[{"toString":1}]}\');', /no reply/],
    ['a line that is text', 'send(\'{"status":"failed","message":"m","line":"1"}\');', /no reply/],
    ['further keys', 'send(\'{"status":"timeout","handle":1}\');', /no reply/],
    ['__proto__', 'send(\'{"__proto__":{"status":"timeout"}}\');', /no reply/],
    ['null', 'send("null");', /no reply/],
    ['its end', 'process.exit(3);', /exit code 3/],
    ['its end by a signal', 'process.kill(process.pid, "SIGSEGV");', /SIGSEGV/],
  ] as const) {
    it(`${what} ends it`, () => assertRefused(`${READY} ${then} ${STAYS}`, message));
  }

  it('bytes that nobody has asked for end it', async () => {
    const reply = toFrame({ status: 'timeout' }).toString('base64');
    const file = taken(
      `${READY} raw(Buffer.from('${reply}', 'base64')); setTimeout(() => raw(Buffer.from('x')), 300); ${STAYS}`,
    );
    const started = await startSandboxProcess(file, NEVER);
    assert.deepEqual(await started.run(program('return 1'), NEVER), { status: 'timeout' });
    await eventually(() => !isRunning(started.pid));
    assert.equal(started.isAlive, false);
    await assert.rejects(started.run(program('return 1'), NEVER), SandboxProcessError);
  });

  it('a process that got no processor has the time of its program all the same', async () => {
    // Stops the process for longer than the time limit of its program, as if it got no processor time.
    const [timeoutMs, stoppedMs] = [1_000, 3_500];
    const started = await startSandboxProcess(ENTRY, NEVER);
    process.kill(started.pid, 'SIGSTOP');
    const running = started.run(program('return inputs.n + 1', { n: 1 }, timeoutMs), NEVER);
    await new Promise((resolve) => setTimeout(resolve, stoppedMs));
    process.kill(started.pid, 'SIGCONT');
    assert.deepEqual(await running, { status: 'returned', json: '2', logs: [] });
    const spinning = started.run(program('for (;;) {}', {}, 300), NEVER);
    assert.deepEqual(await spinning, { status: 'timeout' });
    started.kill();
  });

  it('a process that gets none for ten times as long is killed', async () => {
    const started = await startSandboxProcess(ENTRY, NEVER);
    process.kill(started.pid, 'SIGSTOP');
    assert.deepEqual(await started.run(program('return 1', {}, 100), NEVER), { status: 'timeout' });
    await eventually(() => !isRunning(started.pid));
  });

  it('a wait that the service causes is no time of the program, and another wait for its files is', async () => {
    const reading = program("return await file({ file_id: 'a' }).text()", {}, 500);
    const [asked, opened] = [createGate(), createGate()];
    const text = opened.opened.then(() => Buffer.from('read'));
    const [spared, charged] = [await startSandboxProcess(ENTRY, NEVER), await startSandboxProcess(ENTRY, NEVER)];
    const running = spared.run(reading, NEVER, (_request, _receive, limit) => {
      asked.open();
      return limit.outside(text);
    });
    await asked.opened;
    // Both have the same time limit, and this program is the later one.
    assert.deepEqual(await charged.run(reading, NEVER, () => text), { status: 'timeout' });
    opened.open();
    assert.deepEqual(await running, { status: 'returned', json: '"read"', logs: [] });
    spared.kill();
  });

  it('silence ends it, as a program that takes too long', async () => {
    const started = await startSandboxProcess(taken(`${READY} ${STAYS}`), NEVER);
    assert.deepEqual(await started.run(program('return 1', {}, 200), NEVER), { status: 'timeout' });
    await eventually(() => !isRunning(started.pid));
  });

  it('a process starts where node_modules is a symbolic link', async () => {
    mkdirSync(path.join(folder, 'child'));
    const file = path.join(folder, 'child/linked.mjs');
    // Like the process of the service, it is one folder below node_modules and may not read the folder above.
    const then = `await import('quickjs-emscripten-core'); ${READY} ${STAYS}`;
    renameSync(taken(then), file);
    const started = await startSandboxProcess(file, NEVER);
    started.kill();
  });

  it('a process that does not start says why, in a few words', async () => {
    await assert.rejects(startSandboxProcess(path.join(folder, 'none.mjs'), NEVER), SandboxProcessError);
    const file = taken('throw new Error("broken " + "x".repeat(100000));');
    await assert.rejects(startSandboxProcess(file, NEVER), (error: Error) => {
      assert.ok(error instanceof SandboxProcessError);
      assert.match(error.message, /exit code 1\. It said: .*broken x/s);
      return error.message.length < 3_000;
    });
  });

  it('has no files but its own, no processes, no evaluation of text and no native code, whatever it runs', () => {
    const tries = [
      "fs.readFileSync('/etc/passwd')",
      "fs.readFileSync('/proc/self/environ')",
      "fs.readdirSync('/etc')",
      "fs.writeFileSync('/tmp/written', '')",
      "child_process.spawnSync('id')",
      "child_process.fork('/x.js')",
      "eval('1')",
      "new Function('1')",
      "process.dlopen({ exports: {} }, '/x.node')",
      'fs.readFileSync(process.execPath)',
    ];
    const file = path.join(folder, 'tries.mjs');
    writeFileSync(
      file,
      `import fs from 'node:fs'; import child_process from 'node:child_process';
      const outcomes = [${tries.map((each) => `() => ${each}`).join(',')}].map((one) => { try { one(); return 'done' } catch (e) { return e.code ?? e.name } });
      console.log(JSON.stringify(outcomes));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [...processFlags(file), file], {
      encoding: 'utf8',
      env: {},
      cwd: '/',
    });
    const outcomes = JSON.parse(stdout || '[]') as string[];
    assert.equal(outcomes.length, tries.length, stderr);
    for (const [index, outcome] of outcomes.entries()) {
      assert.match(outcome, /^ERR_ACCESS_DENIED$|^EvalError$|^ERR_DLOPEN_/, `${tries[index]}: ${outcome}`);
    }
  });
});

describe('frames', () => {
  const frame = toFrame({ a: 'ä' });

  it('are read whole or byte by byte', () => {
    assert.equal(String(createFrameReader(100)(frame)), '{"a":"ä"}');
    const read = createFrameReader(100);
    const parts = Array.from(frame, (_, index) => read(frame.subarray(index, index + 1)));
    assert.deepEqual(
      parts.slice(0, -1).filter((part) => part !== undefined),
      [],
    );
    assert.equal(String(parts.at(-1)), '{"a":"ä"}');
  });

  it('are refused when they are too long, as soon as that is known, and when more follows', () => {
    assert.throws(() => createFrameReader(9)(frame.subarray(0, 4)), RangeError);
    assert.throws(() => createFrameReader(100)(Buffer.concat([frame, frame])), RangeError);
    assert.equal(createFrameReader(100)(Buffer.alloc(0)), undefined);
  });
});

describe('a worker that ends, however it ends', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const sandboxUrl = new URL(`file://${OWN_BUILD}/activities/kinds/code/sandbox.js`).href;
  const STUBBORN = 'return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)';

  for (const [how, end] of [
    ['kill -9', "process.kill(process.pid, 'SIGKILL')"],
    ['an exception', "setTimeout(() => { throw new Error('x') })"],
    ['process.exit', 'process.exit(0)'],
    ['abort', 'process.abort()'],
  ] as const) {
    it(`by ${how} takes its sandbox processes with it, whatever they are busy with`, async () => {
      const source = `
        import { createSandbox } from '${sandboxUrl}';
        const sandbox = createSandbox();
        const run = (code, projectId) => sandbox.run({ code, inputs: '{}', marker: 'm', hasMarks: false, timeoutMs: 600000 }, { projectId, signal: new AbortController().signal });
        await run('return 1', 1);
        run(${JSON.stringify(STUBBORN)}, 2).catch(() => {});
        run('for (;;) {}', 3).catch(() => {});
        process.stdin.once('data', () => { ${end} });`;
      const worker = spawn(process.execPath, ['--input-type=module', '-e', source], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const pids = await eventually(() => {
        const found = sandboxProcessesOf(worker.pid!);
        return found.length === 3 && found;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.deepEqual(pids.filter(isRunning), pids);
      worker.stdin.write('x');
      await eventually(() => pids.every((pid) => !isRunning(pid)));
    });
  }

  it('leaves its sandbox processes to the worker when the whole service is signalled', async () => {
    const started = await startSandboxProcess(ENTRY, NEVER);
    try {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(started.pid, signal);
      const busy = started.run(program('const end = Date.now() + 1000; while (Date.now() < end); return 1'), NEVER);
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(started.pid, signal);
      assert.deepEqual(await busy, { status: 'returned', json: '1', logs: [] });
    } finally {
      started.kill();
    }
  });
});
