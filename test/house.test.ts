import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDERS =
  /^(?:acceptance|api|connections|db|activities|contract|deployments|graph|n8n|temporal-workflows|config|telemetry|fairness|memory|files|outgoing|processes|cli|harness|bench|faults|console)\//;

/** A file that `npm run db:types` writes. */
const GENERATED = 'db/core/table-types.ts';

const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
const sources = tracked.filter((file) => FOLDERS.test(file) && /\.tsx?$/.test(file));

/** Our own files that a source imports, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import) ?\(?'(\.[^']+)'/g)]
    .map(([, name]) => path.join(path.dirname(file), name!))
    .flatMap((target) => ['.ts', '.tsx'].map((ending) => target.replace(/\.js$/, ending)))
    .filter((target) => existsSync(path.join(ROOT, target)));
}

/** Returns an import cycle as a path that starts and ends with the same file, or undefined if there is none. */
function findCircle(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, way: string[]): string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...way, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('the source tree', () => {
  it('has no import cycles, with imports of types included', () => {
    assert.ok(sources.length > 300, `${sources.length} sources`);
    assert.equal(findCircle(new Map(sources.map((file) => [file, importsOf(file)])))?.join(' -> '), undefined);
  });

  it('has only the process and the application at the root of api, and none at the roots of db and activities', () => {
    const atRoot = (folder: string): string[] =>
      sources.filter((file) => path.dirname(file) === folder).map((file) => path.basename(file));
    assert.deepEqual(atRoot('api'), ['app.ts', 'main.ts']);
    assert.deepEqual([atRoot('db'), atRoot('activities')], [[], []]);
  });

  // A double represents neither 0.1 nor 18 decimals exactly. A counter of Prometheus and charts are exempt, because
  // they work with doubles.
  it('turns no money into a JavaScript number', () => {
    const exempt = /costUsd\.inc\(/;
    const pictures = new Set(['console/pages/costs/costs-section.tsx', 'console/pages/costs/limits-section.tsx']);
    const converts = /\bNumber\b|\bparseFloat\b|\.toNumber\(|::float8?\b|=> [+]\w/;
    const isMoney = /usd|cost|amount|price|\bfee\b|_fee|spent|spending|reserved|budget|money/i;
    const found = sources
      .filter((file) => !pictures.has(file) && !/^(?:harness|bench|faults|n8n)\/|^db\/observability\//.test(file))
      .flatMap((file) => {
        const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
        return lines.flatMap((line, index) =>
          converts.test(line) && isMoney.test(line) && !exempt.test(line)
            ? [`${file}:${index + 1}: ${line.trim()}`]
            : [],
        );
      });
    assert.deepEqual(found, []);
  });

  it('copies no list of a map for each item that it adds, which takes quadratic time', () => {
    const copies = /\[\.\.\.\(?[\w.#]+\.get\(.*\)(?:!| \?\? \[\]\)), (?!\.\.\.)/;
    const once = 'graph/test-plan.ts'; // Each list gets one item.
    const found = sources.filter((file) => file !== once && copies.test(readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(found, [], 'use graph/push-to.ts');
  });

  // The text in n8n/runtime/ runs in the sandbox of code.
  it('reads the clock in graph at the one place that ARCHITECTURE.md names, and has no randomness there', () => {
    const isImpure = /\bDate\.now\(|new Date\(\)|performance\.now\(|Math\.random\(|randomUUID|randomBytes/;
    const pure = tracked.filter((file) => /^(?:graph|n8n|openapi)\/(?!runtime\/).*\.ts$/.test(file));
    const found = pure.filter((file) => isImpure.test(readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(found, ['graph/nodes/wait.ts']);
    assert.ok(
      readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8').includes('the clock only in `graph/nodes/wait.ts`'),
    );
  });

  // There is no fixed length for a file; most stay far below this limit. It exists so that a file which holds more than
  // one subject is noticed.
  it('has no marks of a merge that was not finished', () => {
    const marked = tracked.filter((file) => {
      return /^(?:<{7} .*|>{7} .*|={7})$/m.test(readFileSync(path.join(ROOT, file), 'latin1'));
    });
    assert.deepEqual(marked, []);
  });

  it('has no file of more than 600 lines', () => {
    const isLong = (file: string): boolean => readFileSync(path.join(ROOT, file), 'utf8').split('\n').length > 601;
    const written = sources.filter((file) => file !== GENERATED);
    assert.deepEqual(written.filter(isLong), []);
  });
});
