import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { createSandbox, type Sandbox } from '../../../../activities/kinds/code/sandbox.js';
import { SandboxProcessError } from '../../../../activities/kinds/code/sandbox-process.js';
import { parseJson } from '../../../../graph/json-text.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { readText } from '../../../../harness/processes/family.js';
import { rssMiB } from '../../../../harness/processes/figures.js';
import { isAlive } from '../../../../harness/processes/signals.js';
import { ENTRY, isRunning, NEVER, nextProject, program, run, sandboxProcessesOf } from './sandboxes.js';

/** A loop inside of a built-in function, which does not check the time. */
const STUBBORN = 'return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)';

describe('the sandbox of code', function () {
  // Code has the lowest priority: beside busy processes it gets a twentieth of a processor.
  this.timeout(600_000);
  let sandbox: Sandbox;

  beforeEach(() => {
    sandbox = createSandbox(ENTRY);
  });
  afterEach(async () => {
    sandbox.close();
    await eventually(() => sandboxProcessesOf(process.pid).length === 0);
  });

  async function valueOf(code: string, inputs?: unknown): Promise<unknown> {
    const reply = await run(sandbox, code, inputs);
    assert.equal(reply.status, 'returned', JSON.stringify(reply));
    return reply.status === 'returned' ? (JSON.parse(reply.json) as unknown) : undefined;
  }

  async function jsonOf(code: string, inputs: string): Promise<string> {
    const reply = await run(sandbox, code, parseJson(inputs));
    assert.equal(reply.status, 'returned', JSON.stringify(reply));
    return reply.status === 'returned' ? reply.json : '';
  }

  async function failureOf(code: string) {
    const reply = await run(sandbox, code);
    assert.equal(reply.status, 'failed', JSON.stringify(reply));
    return reply.status === 'failed' ? [reply.message, reply.line] : [];
  }

  it('gives what the function returns or resolves to, and reads inputs', async () => {
    assert.equal(await valueOf('return `Hello ${inputs.name}`', { name: 'Ada' }), 'Hello Ada');
    assert.deepEqual(await valueOf('return inputs.list.map((x) => x * 2)', { list: [1, 2] }), [2, 4]);
    assert.equal(await valueOf('const x = await Promise.resolve(20); return x + 1'), 21);
    assert.equal(await valueOf('return new Promise((yes) => yes("later"))'), 'later');
    assert.equal(await valueOf('inputs.x'), null);
    assert.deepEqual(await valueOf('return [new Date(0), Math.max(1, 2)]'), ['1970-01-01T00:00:00.000Z', 2]);
    assert.equal(await valueOf('return new Date(0).getHours()'), 0, 'the time zone is UTC');
  });

  it('gives integers beyond 2^53 to code as BigInt, and takes them back exactly', async () => {
    const types = 'return Object.values(inputs).map((x) => typeof x)';
    const inputs =
      '{"a":9007199254740993,"b":-12345678901234567890,"c":9007199254740994,"d":9007199254740991,"e":0.1,"f":1e30}';
    assert.equal(await jsonOf(types, inputs), '["bigint","bigint","bigint","number","number","number"]');
    const expected = '[9007199254740993,-12345678901234567890,9007199254740994,9007199254740991,0.1,1e+30]';
    assert.equal(await jsonOf('return Object.values(inputs)', inputs), expected);
    assert.equal(
      await jsonOf('return { next: inputs.a + 1n, small: 7n }', inputs),
      '{"next":9007199254740994,"small":7}',
    );
    const digits = '9'.repeat(400);
    assert.equal(
      await jsonOf('return [inputs.x, [inputs.x + 1n]]', `{"x":${digits}}`),
      `[${digits},[1${'0'.repeat(400)}]]`,
    );
    assert.equal(
      await jsonOf('return [inputs.x > 0.3, typeof inputs.x]', '{"x":0.30000000000000000001}'),
      '[false,"number"]',
    );
    assert.equal(
      await jsonOf('return inputs', '{"__proto__":{"x":9007199254740993}}'),
      '{"__proto__":{"x":9007199254740993}}',
    );
  });

  it('keeps console lines, one for each call, up to 64 KiB', async () => {
    const code = `console.log('a', 1, { b: [2n] }); console.info(); console.warn(null, undefined); console.error(new TypeError('no'));
      console.debug('two\\nlines'); console.log('a\\0b\\ud800'); return 1`;
    const reply = await run(sandbox, code);
    assert.deepEqual(reply.status === 'returned' && reply.logs, [
      'a 1 {"b":["2"]}',
      '',
      'null undefined',
      'TypeError: no',
      'two\nlines',
      'a\0b\ud800',
    ]);
    for (const text of ['x', 'ü', '😀']) {
      const cut = await run(sandbox, `for (let i = 0; i < 200; i += 1) console.log('${text}'.repeat(500)); return 1`);
      assert.ok(cut.status === 'returned');
      assert.equal(cut.logs.at(-1), '... the log is cut here.');
      const bytes = Buffer.byteLength(cut.logs.slice(0, -1).join('\n'));
      assert.ok(bytes <= 65_536 && bytes > 65_500, `${bytes} bytes`);
      assert.ok(!cut.logs.join('').includes('\ufffd'), 'no half of a character');
    }
  });

  it('says what the code threw, and the line of the code', async () => {
    assert.deepEqual(await failureOf('null.x'), ["TypeError: cannot read property 'x' of null", 1]);
    assert.deepEqual(await failureOf('const a = 1;\n\nthrow new Error("mine");'), ['Error: mine', 3]);
    const nested = 'const inner = () => {\n  throw new RangeError("deep");\n};\n[1].map(inner);';
    assert.deepEqual(await failureOf(nested), ['RangeError: deep', 2]);
    assert.deepEqual(await failureOf('await null;\nawait null;\nthrow new Error("late")'), ['Error: late', 3]);
    assert.equal((await failureOf('const a = 1;\nconst b = ;'))[1], 2);
    assert.match(String((await failureOf('return (1'))[0]), /^SyntaxError: /);
    assert.deepEqual(await failureOf('throw "text"'), ['text', null]);
  });

  it('tells no line of a name without a value where several lines may be meant, and none behind the last one', async () => {
    const lineOf = async (...lines: string[]) => (await failureOf(lines.join('\n')))[1];
    assert.equal(await lineOf('const a = 1;', 'const b = null;', 'const c = b.z;', 'return c;'), 3);
    assert.equal(await lineOf('const b = null;', 'const zz = 1;', 'b.z = 1;'), 3);
    assert.equal(await lineOf('const b = { z: 1 };', 'String(1);', 'const c = null;', 'return c["z"];'), 4);
    assert.equal(await lineOf('const b = { z: 1 };', 'const d = b.z;', 'const c = null;', 'return c.z;'), null);
    assert.equal(await lineOf('const b = null;', 'const key = "z";', 'return b[key + "y"];'), null);
    assert.equal(await lineOf('const x = 1;', '', 'return great(x);'), 3);
    assert.equal(await lineOf('const x = 1;', 'return later;', 'const later = 2;'), null);
    assert.equal(await lineOf('return ('), 1);
  });

  it('stops code at its time, and goes on in the same process where code stops by itself', async () => {
    const limitMs = 300;
    // A process that takes this long (ten times the limit and the second for stopping) got no processor time and was
    // killed. The test then tries again.
    const starvedMs = 10 * (limitMs + 1_000);
    for (let tookMs = starvedMs; tookMs >= starvedMs;) {
      assert.equal(await valueOf('return 1'), 1);
      const before = sandboxProcessesOf(process.pid);
      const startedAt = performance.now();
      assert.deepEqual(await run(sandbox, 'for (;;) {}', {}, limitMs), { status: 'timeout' });
      tookMs = performance.now() - startedAt;
      assert.ok(tookMs >= limitMs - 10);
      if (tookMs >= starvedMs) continue;
      assert.equal(await valueOf('return 1'), 1);
      assert.deepEqual(sandboxProcessesOf(process.pid), before);
    }
  });

  it('kills the process of code that does not stop, and takes another one', async () => {
    assert.equal(await valueOf('return 1'), 1);
    const [before] = sandboxProcessesOf(process.pid);
    assert.deepEqual(await run(sandbox, STUBBORN, {}, 200), { status: 'timeout' });
    await eventually(() => before === undefined || !isRunning(before));
    assert.equal(await valueOf('return 2'), 2);
  });

  it('holds memory to 64 MiB, whatever code wants', async function () {
    if (process.platform !== 'linux') this.skip();
    assert.equal(await valueOf('return 1'), 1);
    const [pid] = sandboxProcessesOf(process.pid);
    const before = rssMiB(pid);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, rssMiB(pid))), 5);
    for (let round = 0; round < 5; round += 1) {
      const code = 'const a = []; for (;;) a.push(new Uint8Array(100000).fill(1))';
      assert.deepEqual(await run(sandbox, code), { status: 'memory' });
    }
    clearInterval(watch);
    assert.ok(most > before, 'the memory was watched');
    assert.ok(most - before < 160, `${Math.round(most - before)} MiB more`);
    const half = 'return new Uint8Array(32 * 1024 * 1024).fill(1).length';
    assert.equal(await valueOf(half), 32 * 1024 * 1024);
  });

  it('says so if a file has room in this memory as text, but not as the value that code gets', async () => {
    // The text of a file with a null character reaches the instance as JSON. Parsing it takes half as much memory
    // again as copying it, so some of these programs have room for the copy only.
    const text = Buffer.from(`${'\u0101'.repeat(3_500_000)}\0`);
    const statuses = new Set<string>();
    for (let heldMiB = 4; heldMiB <= 48; heldMiB += 4) {
      const code = `const held = new Uint8Array(${heldMiB} * 1024 * 1024);
        return held.length + (await file({ file_id: 'a' }).text()).length`;
      const served = { projectId: 1, signal: NEVER, serve: () => Promise.resolve(text) };
      const reply = await sandbox.run(program(code), served);
      assert.ok(reply.status === 'returned' || reply.status === 'memory', JSON.stringify(reply));
      statuses.add(reply.status);
    }
    assert.deepEqual([...statuses], ['returned', 'memory']);
  });

  it('can be used hundreds of times by one process, whose memory does not grow', async () => {
    const use = async (times: number) => {
      for (let round = 0; round < times; round += 1) {
        assert.equal(await valueOf('globalThis.seen ??= inputs.n; return globalThis.seen', { n: round }), round);
      }
      return sandboxProcessesOf(process.pid)[0] ?? 0;
    };
    const pid = await use(100);
    const before = rssMiB(pid);
    assert.equal(await use(300), pid);
    assert.ok(rssMiB(pid) - before < 64, `${rssMiB(pid) - before} MiB more`);
  });

  it('kills the process when the node is stopped, waiting or running, and says why', async () => {
    const stop = new AbortController();
    const running = sandbox.run(program(STUBBORN), { projectId: 1, signal: stop.signal });
    await eventually(() => process.platform !== 'linux' || sandboxProcessesOf(process.pid).length === 1);
    setTimeout(() => stop.abort(new Error('cancelled')), 300);
    await assert.rejects(running, { message: 'cancelled' });
    await eventually(() => sandboxProcessesOf(process.pid).length === 0);
    await assert.rejects(sandbox.run(program('return 1'), { projectId: 1, signal: stop.signal }), {
      message: 'cancelled',
    });
    assert.equal(await valueOf('return 1'), 1);
  });

  it('runs at most four programs of a project and eight in all, and the others when it is their turn', async function () {
    if (process.platform !== 'linux') this.skip();
    const stop = new AbortController();
    const start = (projectId: number) =>
      Array.from({ length: 6 }, () =>
        sandbox.run(program(STUBBORN, {}, 30_000), { projectId, signal: stop.signal }).catch(() => undefined),
      );
    const all = start(nextProject());
    await eventually(() => sandboxProcessesOf(process.pid).length === 4);
    const other = sandbox.run(program('return 1'), { projectId: nextProject(), signal: NEVER });
    assert.equal((await other).status, 'returned', 'another project need not wait');
    all.push(...start(nextProject()), ...start(nextProject()));
    await eventually(() => sandboxProcessesOf(process.pid).length === 8);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(sandboxProcessesOf(process.pid).length, 8);
    stop.abort();
    await Promise.all(all);
  });

  it('gives a process to one project only', async function () {
    if (process.platform !== 'linux') this.skip();
    const [one, other] = [nextProject(), nextProject()];
    const use = (projectId: number) => sandbox.run(program('return 1'), { projectId, signal: NEVER });
    await use(one);
    const first = sandboxProcessesOf(process.pid);
    await use(other);
    assert.equal(sandboxProcessesOf(process.pid).length, 2);
    await use(one);
    await use(other);
    assert.equal(sandboxProcessesOf(process.pid).length, 2);
    for (let index = 0; index < 6; index += 1) await use(nextProject());
    await eventually(() => sandboxProcessesOf(process.pid).length === 4);
    assert.ok(!sandboxProcessesOf(process.pid).includes(first[0]!), 'the one that was unused for longest has ended');
  });

  it('gives the process no environment, no folder of ours, no other channel and a low priority', async function () {
    if (process.platform !== 'linux') this.skip();
    await valueOf('return 1');
    const pid = sandboxProcessesOf(process.pid)[0]!;
    assert.equal(readText(`/proc/${pid}/environ`), '');
    assert.equal(getPriority(pid), 15);
    // The kernel ends it, and not the worker, when the memory of the container runs out.
    assert.equal(readText(`/proc/${pid}/oom_score_adj`), '1000\n');
    // Linux divides processor time among sessions first, so the session needs the low priority, too.
    const session = `/proc/${pid}/autogroup`;
    if (existsSync(session)) assert.match(readText(session), /nice 15$/m);
    assert.match(readText(`/proc/${pid}/stat`).split(') ').at(-1)!, /^\S \d+ (\d+) \1 /, 'a session of its own');
  });

  it('tells a process that was lost from code that failed, and goes on with another one', async function () {
    if (process.platform !== 'linux') this.skip();
    const running = sandbox.run(program(STUBBORN), { projectId: 1, signal: NEVER });
    const [pid] = await eventually(() => {
      const found = sandboxProcessesOf(process.pid);
      return found.length === 1 && found;
    });
    setTimeout(() => process.kill(pid!, 'SIGKILL'), 300);
    await assert.rejects(running, (error) => error instanceof SandboxProcessError && /SIGKILL/.test(error.message));
    assert.equal(await valueOf('return 1'), 1);
    // A lost idle process is not used.
    const idle = sandboxProcessesOf(process.pid)[0]!;
    process.kill(idle, 'SIGKILL');
    await eventually(() => !isAlive(idle));
    assert.equal(await valueOf('return 2'), 2);
  });

  it('refuses everything once it is closed, and ends what runs', async () => {
    const running = run(sandbox, STUBBORN);
    await once(AbortSignal.timeout(300), 'abort');
    sandbox.close();
    await assert.rejects(running, /closed/);
    await assert.rejects(run(sandbox, 'return 1'), /closed/);
  });
});
