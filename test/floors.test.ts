// Checks that `api`, `db` and `console` (the "rooms") import only from upper to lower layers (the "floors"), as the
// tables of ARCHITECTURE.md, "Floors inside the big rooms", list them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const ROOMS = ['api', 'db', 'console'];

/** The layers of a room, topmost first. Each is a list of folders that do not import each other. */
function floorsOf(room: string): string[][] {
  const document = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const [, section = ''] = document.split(`### Floors of \`${room}\`\n`);
  const rows = section.split(/\n#+ /)[0]!.matchAll(/^\| (`[^|]+) \|/gm);
  return [...rows].map(([, folders]) => [...folders!.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder!));
}

interface Floors {
  room: string;
  floors: string[][];
}

/**
 * The folder of a file (of `pages/*` the folder of one page), and the index of its layer: 0 for the topmost, -1 if the
 * table does not have the folder.
 */
function placeOf({ room, floors }: Floors, file: string): { folder: string; floor: number } {
  const parts = file.slice(room.length + 1).split('/');
  const isIn = (folder: string): boolean =>
    folder.endsWith('/*') ? parts.length > 2 && folder === `${parts[0]}/*` : folder === parts[0];
  const floor = floors.findIndex((folders) => folders.some(isIn));
  const named = floors[floor]?.find(isIn);
  return { folder: named?.endsWith('/*') === true ? parts.slice(0, 2).join('/') : parts[0]!, floor };
}

/** The files that a source imports, by `import`, `export`, `import()` or as a type. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/\b(?:from|import) ?\(?\s*'(\.[^']+)'/g)].map(([, name]) =>
    path.join(path.dirname(file), name!.replace(/\.js$/, '.ts')),
  );
}

function imports(floors: Floors, file: string, text: string): string[] {
  const from = placeOf(floors, file);
  return importsOf(file, text)
    .filter((target) => target.startsWith(`${floors.room}/`))
    .filter((target) => {
      const to = placeOf(floors, target);
      return to.folder !== from.folder && to.floor <= from.floor;
    })
    .map((target) => `${file} imports ${target}`);
}

const tracked = execFileSync('git', ['ls-files', ...ROOMS], { cwd: ROOT, encoding: 'utf8' }).split('\n');
const sources = tracked.filter((file) => /\.tsx?$/.test(file) && existsSync(path.join(ROOT, file)));

for (const room of ROOMS)
  describe(`the floors of ${room}`, () => {
    const floors = { room, floors: floorsOf(room) };
    const inside = sources.filter((file) => file.startsWith(`${room}/`));

    it('has a floor for each folder and each file at its root, and none for others', () => {
      assert.ok(inside.length > 100, `${inside.length} sources`);
      const homeless = inside.filter((file) => placeOf(floors, file).floor === -1);
      assert.deepEqual(homeless, []);
      const folders = floors.floors.flat();
      const empty = folders.filter((folder) =>
        inside.every((file) => !file.startsWith(path.join(room, folder.replace('*', '')))),
      );
      assert.deepEqual(empty, []);
      assert.equal(new Set(folders).size, folders.length);
    });

    it('imports downwards only, types included', () => {
      const upwards = inside.flatMap((file) => imports(floors, file, readFileSync(path.join(ROOT, file), 'utf8')));
      assert.deepEqual(upwards, []);
    });
  });

describe('the check of floors', () => {
  const floors = { room: 'db', floors: [['runs'], ['nodes', 'waits'], ['core']] };

  it('refuses imports of values and types, import() and side effects that go up or to the same floor', () => {
    const lines = [
      "import { a } from '../runs/a.js';",
      "import type { A } from '../runs/a.js';",
      "export * from '../runs/a.js';",
      "const a = await import('../runs/a.js');",
      "type A = import('../runs/a.js').A;",
      "import '../runs/a.js';",
      "import { b } from '../waits/b.js';",
      "import {\n  a,\n  b,\n} from '../runs/a.js';",
    ];
    for (const line of lines) assert.equal(imports(floors, 'db/nodes/n.ts', line).length, 1, line);
  });

  it('takes imports that go down or stay in the folder', () => {
    const text =
      "import { c } from '../core/c.js';\nimport { n } from './m.js';\nimport { g } from '../../graph/g.js';";
    assert.deepEqual(imports(floors, 'db/nodes/n.ts', text), []);
  });
});
