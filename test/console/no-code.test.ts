// The console shows text of users and models as text, and never as markup or code.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../../console');

describe('the sources of the console', () => {
  const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));

  function assertWithout(pattern: RegExp): void {
    assert.ok(sources.length > 50);
    for (const name of sources) {
      assert.equal(pattern.exec(readFileSync(path.join(FOLDER, name), 'utf8'))?.[0], undefined, name);
    }
  }

  it('make no markup of text', () => {
    assertWithout(
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|\bdocument\.write|\bsrcdoc\b|createContextualFragment|DOMParser/i,
    );
  });

  it('evaluate no text, and load nothing that text names', () => {
    assertWithout(
      /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(|\bimport\s*\(\s*[^'")\s]|\bset(?:Timeout|Interval)\s*\(\s*['"`]/,
    );
  });
});
