import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { triggerTypes } from '../../n8n/triggers.js';
import { translations } from '../../n8n/translate-node.js';

const DOCUMENT = path.resolve(import.meta.dirname, '../../docs/use/porting.md');

describe('the table of nodes of n8n in docs/use/porting.md', () => {
  it('names each type of n8n that is translated, and no other', () => {
    const rows = readFileSync(DOCUMENT, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const named = rows.flatMap((row) =>
      [...row.matchAll(/`((?:@n8n\/)?n8n-nodes-[\w.-]+)`/g)].map(([, type]) => type!),
    );
    assert.deepEqual(named.toSorted(), [...Object.keys(translations), ...triggerTypes].toSorted());
  });
});
