// Files that are saved, referred to and deleted while the sweep removes files without references, all at once and in
// random order, against PostgreSQL and a folder.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sweepFiles } from '../../api/background/sweep-files.js';
import type { Files } from '../../files/files.js';
import { findFiles } from '../../db/files/files-repository.js';
import { addReferences, dropReferencesOfProject, replaceReferences } from '../../db/files/references-repository.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { chain } from '../../harness/drawing/drawing.js';
import { createRandom } from '../openapi/requests/random.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { sweepingDeps } from '../api/files/sweeping.js';

const OPERATIONS = Number(process.env['SWEEP_OPERATIONS'] ?? 2_000);
/** `SWEEP_SEED=7` tries other operations. The order in which they end is that of the machine. */
const SEED = Number(process.env['SWEEP_SEED'] ?? 1);
const AT_ONCE = 12;
/** There are so few contents that most files share theirs with others. */
const CONTENTS = 12;

describe('the sweep of files', function () {
  this.timeout(240_000);
  let stack: TestStack;
  let folder: string;
  let deps: Parameters<typeof sweepFiles>[0];
  let close: () => Promise<void>;
  let files: Files;
  let projectId: number;
  let workflowId: number;

  before(async () => {
    stack = await sharedStack();
    folder = path.join(stack.dataDir, 'files');
    const swept = sweepingDeps(stack);
    ({ deps, close } = swept);
    ({ files } = deps);
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    projectId = await api.createProject();
    workflowId = await api.createWorkflow(projectId, chain(1));
  });
  after(async () => {
    await dropReferencesOfProject(deps.db, projectId);
    await close();
  });

  const names = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'store-mark')
      .map((entry) => entry.name);
  const random = createRandom(SEED).integer;
  const holders = Array.from({ length: 8 }, (_, at) => `drill-${at}`);
  const known: string[] = [];
  const contentOf = (at: number): Buffer => Buffer.alloc(1 + at * 9_001, at + 1);

  async function operate(): Promise<void> {
    const holder = { kind: 'drawing', id: `${workflowId}/${holders[random(holders.length)]!}` } as const;
    const some = [known[random(known.length)], known[random(known.length)]].filter((id) => id !== undefined);
    switch (random(7)) {
      case 0:
      case 1: {
        const bytes = Readable.from([contentOf(random(CONTENTS))], { objectMode: false });
        const isHeld = random(2) === 0;
        const file = { projectId, name: 'f', type: undefined, ...(isHeld && { holder }) };
        known.push((await files.save(file, bytes)).file_id);
        return;
      }
      case 2: {
        const broken = Readable.from(
          (function* () {
            yield contentOf(3);
            throw new Error('broken off');
          })(),
          { objectMode: false },
        );
        await assert.rejects(files.save({ projectId, name: 'f', type: undefined }, broken));
        return;
      }
      case 3:
        return deps.db.transaction().execute((trx) => addReferences(trx, projectId, holder, some));
      case 4:
        return deps.db.transaction().execute((trx) => replaceReferences(trx, workflowId, holder, some));
      case 5:
        // Makes a file older than a day. The sweep removes such a file if nothing refers to it.
        if (some[0] !== undefined) {
          await queryDatabase(stack, `UPDATE files SET created_at = now() - interval '2 days' WHERE id = '${some[0]}'`);
        }
        if (random(4) === 0 && some[1] !== undefined) {
          await deps.db.transaction().execute((trx) => files.delete(trx, some[1]!));
        }
        return;
      default:
        await sweepFiles(deps);
    }
  }

  it(`removes every file without a reference and no other, over ${OPERATIONS} operations at once (seed ${SEED})`, async () => {
    let left = OPERATIONS;
    const held = (): Promise<{ id: string; isDeleted: boolean }[]> =>
      queryDatabase(
        stack,
        `SELECT DISTINCT files.id, copy_id IS NULL AS "isDeleted" FROM files JOIN file_references ON file_id = files.id
          WHERE project_id = ${projectId}`,
      );
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left > 0) {
          left -= 1;
          await operate();
        }
      }),
    );
    // Every file that is referred to now is still there after a last sweep, byte for byte.
    const before = await held();
    while (await sweepFiles(deps));
    assert.deepEqual((await held()).length, before.length);
    const readable = await findFiles(
      deps.db,
      projectId,
      before.filter(({ isDeleted }) => !isDeleted).map(({ id }) => id),
    );
    assert.equal(readable.length, before.filter(({ isDeleted }) => !isDeleted).length);
    assert.ok(readable.length > 0, 'the drill holds something');
    for (const file of readable) {
      const bytes = await buffer(await files.read(file));
      assert.ok(createHash('sha256').update(bytes).digest().equals(file.sha256));
    }
    // The folder has the bytes of the stored copies, and no others.
    const copies = await queryDatabase<{ name: string; status: string; used: boolean }>(
      stack,
      `SELECT name, status, EXISTS (SELECT FROM files WHERE copy_id = file_copies.id) AS used FROM file_copies
        WHERE project_id = ${projectId}`,
    );
    assert.deepEqual(
      copies.filter(({ status, used }) => status !== 'stored' || !used),
      [],
    );
    const kept = new Set(await names());
    assert.deepEqual(
      copies.filter(({ name }) => !kept.has(name)),
      [],
    );
    assert.ok(copies.length <= CONTENTS, 'equal bytes are stored once');
    // Files without a reference are removed once they are old enough.
    await dropReferencesOfProject(deps.db, projectId);
    await queryDatabase(
      stack,
      `UPDATE files SET created_at = now() - interval '2 days' WHERE project_id = ${projectId}`,
    );
    while (await sweepFiles(deps));
    assert.deepEqual(await queryDatabase(stack, `SELECT id FROM files WHERE project_id = ${projectId}`), []);
    // Other tests write into the folder at the same time, so a file counts as left behind only if two checks find no
    // row for it.
    const ofNobody = async (): Promise<string[]> => {
      const there = await names();
      const rows = await queryDatabase<{ name: string }>(stack, 'SELECT name FROM file_copies');
      const inRows = new Set(rows.map(({ name }) => name));
      return there.filter((name) => !inRows.has(name.replace(/\.part$/, '')));
    };
    const [once, again] = [await ofNobody(), new Set(await ofNobody())];
    assert.deepEqual(
      once.filter((name) => again.has(name)),
      [],
    );
  });
});
