import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { itRuns, ROOT } from './run-documents.js';

describe('the documents', function () {
  this.timeout(400_000);
  itRuns(['README.md', 'docs/use/api.md']);

  it('ARCHITECTURE and CONTRIBUTING name only files and folders that are there', () => {
    const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((page) => {
      const text = withoutCode(readFileSync(path.join(ROOT, page), 'utf8'));
      const named = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)].map(([, name = '']) => name);
      assert.ok(named.length > 5, page);
      return named.filter((name) => !isThere(name)).map((name) => `${page}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });

  it('link only to files and headings that are there', () => {
    const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'clients/typescript/README.md'];
    const more = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
    for (const name of more) if (name.endsWith('.md')) pages.push(path.join('docs', name));
    const broken = [...pages, 'examples/python/README.md'].flatMap(brokenLinks);
    assert.deepEqual(broken, []);
  });
});

/** Returns true if the file is in the tree, or if a build or a start makes it. */
function isThere(name: string): boolean {
  const made = /^(?:dist|\.data|DATA_DIR)\//;
  return made.test(name) || existsSync(path.join(ROOT, name));
}

function brokenLinks(page: string): string[] {
  const text = withoutCode(readFileSync(path.join(ROOT, page), 'utf8'));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    if (!existsSync(path.join(ROOT, target))) return [`${page}: ${link}`];
    if (anchor === undefined || !target.endsWith('.md')) return [];
    return headingsOf(target).includes(anchor) ? [] : [`${page}: ${link}`];
  });
}

/** Returns the anchors that GitHub gives to headings. */
function headingsOf(page: string): string[] {
  const lines = withoutCode(readFileSync(path.join(ROOT, page), 'utf8')).split('\n');
  const headings = lines.flatMap((line) => /^#+ (.+)$/.exec(line)?.[1] ?? []);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^\s*```[^]*?^\s*```$/gm, '');
}
