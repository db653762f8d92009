// The limits on the files of a model call, in an estimate and in the call itself.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
} from 'kysely';
import { toModelMessages, type MessageFilesDeps } from '../../../activities/kinds/llm/message-files.js';
import type { NodeTask } from '../../../activities/node/node-step.js';
import { HeavyWork, type InTurn } from '../../../api/http/heavy-work.js';
import type { TestDeps } from '../../../api/test-runs/deps.js';
import { estimateTest } from '../../../api/test-runs/estimate.js';
import { createWeighing, namedFileIds, UnknownFileError } from '../../../api/test-runs/estimated-files.js';
import type { OpenedTest } from '../../../api/test-runs/start-test.js';
import type { ResolvedModel } from '../../../config/model-providers.js';
import type { Tables } from '../../../db/core/tables.js';
import type { StoredFile } from '../../../db/files/files-repository.js';
import type { Files } from '../../../files/files.js';
import { compilePlan } from '../../../graph/compile-plan.js';
import type { JsonObject } from '../../../graph/json.js';
import { drawing, linkInRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { createGate } from '../../../harness/timing/gate.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import type { Processes } from '../../../processes/processes.js';
import type { Work } from '../../../processes/work.js';
import { PNG } from '../../support/media.js';

const MIB = 1024 * 1024;
const stored = new Map<string, StoredFile & { bytes: Buffer }>();

/** Returns the files whose ids are parameters of the statement. */
class FilesDriver extends DummyDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    const executeQuery = ({ parameters }: CompiledQuery) =>
      Promise.resolve({ rows: parameters.flat().flatMap((id) => stored.get(String(id)) ?? []) as never[] });
    return Promise.resolve({ executeQuery, streamQuery: () => assert.fail('no statement is streamed') });
  }
}

const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new FilesDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

function fileOf(bytes: Buffer): { file_id: string } {
  const id = randomUUID();
  const facts = { id, projectId: 1, name: 'a.png', type: 'image/png', size: bytes.length, sha256: '' };
  stored.set(id, { ...facts, bytes } as unknown as StoredFile & { bytes: Buffer });
  return { file_id: id };
}

const image = (size: number) => fileOf(Buffer.concat([PNG, Buffer.alloc(size)]).subarray(0, size));

const model = { accepts: ['image'] } as unknown as ResolvedModel;
const values = { input: {}, results: new Map() };
const readOf = (file: StoredFile): Promise<Readable> =>
  Promise.resolve(Readable.from([stored.get(file.id)!.bytes], { objectMode: false }));
const lease = () => new ByteBudget({ totalBytes: 4_096 * MIB, uncountedBytes: 0 }).lease('user:1');

const times = (count: number, file: object): object[] => Array.from({ length: count }, () => file);

type Message = { role: string; message: string; files?: unknown };

/** Returns the number of files that an estimate counts. */
async function estimated(messages: Message[], documentProcesses = {} as Processes): Promise<number> {
  const deps = { db, files: { read: readOf } as unknown as Files, documentProcesses };
  const { signal } = new AbortController();
  const inTurn = async <T>(_sizeBytes: number, work: () => Promise<T> | T): Promise<T> => work();
  const weigh = createWeighing(deps, { projectId: 1, userId: 1, memory: lease(), inTurn, signal });
  return (await weigh(namedFileIds(messages as JsonObject[], values), model)).flat().length;
}

function called(messages: Message[]) {
  const files = { find: (_task: unknown, { file_id: id }: { file_id: string }) => stored.get(id), read: readOf };
  const task = { run: { projectId: 1 }, memory: lease(), signal: new AbortController().signal };
  const given = { messages, values, model, modelName: 'm' } as unknown as Parameters<typeof toModelMessages>[2];
  const texts = { textOf: (bytes: Buffer) => Promise.resolve(bytes.toString()) };
  return toModelMessages({ files, texts } as unknown as MessageFilesDeps, task as unknown as NodeTask, given);
}

describe('the files of a model call, estimated and given', () => {
  const messageOf = (...files: unknown[]): Message => ({ role: 'user', message: 'look', files });
  const partsOf = (messages: { content?: unknown }[]): number =>
    messages.reduce((sum, { content }) => sum + (Array.isArray(content) ? content.length - 1 : 0), 0);

  async function areTaken(...messages: Message[]): Promise<void> {
    const named = messages.reduce((sum, { files }) => sum + (files as unknown[]).length, 0);
    assert.equal(await estimated(messages), named);
    assert.equal(partsOf(await called(messages)), named);
  }

  async function areTooMuch(...messages: Message[]): Promise<void> {
    await assert.rejects(estimated(messages), UnknownFileError);
    await assert.rejects(called(messages), { code: 'file_too_large' });
  }

  it('are 100 at most, in all messages together', async () => {
    const small = image(200);
    await areTaken(messageOf(...times(100, small)));
    await areTooMuch(messageOf(...times(101, small)));
    await areTaken(messageOf(...times(60, small)), messageOf(...times(40, small)));
    await areTooMuch(messageOf(...times(60, small)), messageOf(...times(41, small)));
  });

  it('have 16 MiB at most, in all messages together', async () => {
    const [large, last] = [image(4 * MIB), fileOf(Buffer.from(PNG.subarray(0, 1)))];
    await areTaken(messageOf(...times(4, large)));
    await areTooMuch(messageOf(...times(4, large), last));
    await areTaken(messageOf(...times(2, large)), messageOf(...times(2, large)));
    await areTooMuch(messageOf(...times(2, large)), messageOf(...times(2, large), last));
  });

  it('have 16 MiB of text at most, with the name that stands before each', async () => {
    const half = fileOf(Buffer.alloc(8 * MIB - 'a.png:\n'.length, 'x'));
    await Promise.all([estimated([messageOf(half, half)]), called([messageOf(half, half)])]);
    const more = fileOf(Buffer.alloc(8 * MIB - 'a.png:\n'.length + 1, 'x'));
    await areTooMuch(messageOf(half, more));
  });
});

describe('the files of an estimate', () => {
  const priced = { ...model, inputPricePerMillion: '1', outputPricePerMillion: '2' };
  const models = { models: new Map([['m', priced]]) } as unknown as TestDeps['models'];
  const { signal } = new AbortController();

  /** Opens a test of a drawing with model calls, each of which is given one of the files. */
  function opened(files: object[]): OpenedTest {
    const calls = files.map((file) =>
      node('llm', { messages: [{ role: 'user', message: 'look', files: [file] }], settings: { model_name: 'm' } }),
    );
    const drawn = drawing(linkInRow([trigger(), ...calls]));
    const compiled = compilePlan(drawn);
    assert.ok(compiled.ok);
    const { plan } = compiled;
    const nothing = { fixedResults: [], sources: [], loops: [], missing: [], secretsThen: [], input: undefined };
    const planned = { ...nothing, plan, paths: [''], executed: new Set(plan.ids) };
    const workflow = { id: 1, project_id: 1, document: drawn, secrets_enc: null, project_pools: [] };
    return { workflow, planned, drawing: drawn } as unknown as OpenedTest;
  }

  function estimateOf(files: object[], read: typeof readOf, { heavyWork = new HeavyWork(), memory = lease() } = {}) {
    const deps = { db, files: { read }, models } as unknown as TestDeps;
    const asker = { tenant: 'user:1', signal };
    const inTurn: InTurn = (sizeBytes, work) => heavyWork.run(asker, sizeBytes, work);
    const asked = { userId: 1, input: {}, memory, inTurn, signal };
    return heavyWork.run(asker, MIB, () => estimateTest(deps, opened(files), asked));
  }

  it('are read outside of the turn for large work, so that others do not wait for the store of files', async () => {
    const [gate, heavyWork] = [createGate(), new HeavyWork()];
    const estimating = estimateOf([image(MIB)], (file) => gate.opened.then(() => readOf(file)), { heavyWork });
    assert.equal(await heavyWork.run({ tenant: 'user:2', signal }, MIB, () => 'done'), 'done');
    gate.open();
    assert.ok((await estimating).reserved !== null);
  });

  it('are read by the processes for documents, which have the memory that documents need', async () => {
    const works: Work[] = [];
    const documentProcesses: Processes = {
      run(work) {
        works.push(work);
        return Promise.resolve({ kind: 'text', text: 'words' });
      },
      close: () => undefined,
    };
    const pdf = fileOf(Buffer.from('%PDF-1.4'));
    const messages = [{ role: 'user', message: 'look', files: [pdf] }];
    assert.equal(await estimated(messages, documentProcesses), 1);
    assert.deepEqual(works, [{ kind: 'document', format: 'pdf', bytes: Buffer.from('%PDF-1.4') }]);
  });

  it('are in memory one at a time, and are read once for all calls', async () => {
    const memory = lease();
    await memory.resize(MIB);
    const read: { id: string; leased: number }[] = [];
    const [image1, image2] = [image(16 * MIB), image(MIB)];
    const files = [...times(20, image1), image2];
    const { reserved } = await estimateOf(
      files,
      (file) => {
        read.push({ id: file.id, leased: memory.bytes });
        return readOf(file);
      },
      { memory },
    );
    assert.ok(reserved !== null);
    assert.deepEqual(read, [
      { id: image1.file_id, leased: (1 + 4 * 16) * MIB },
      { id: image2.file_id, leased: (1 + 4) * MIB },
    ]);
    assert.equal(memory.bytes, MIB);
  });
});
