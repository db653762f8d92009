import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { conditionSchema } from '../../graph/condition-schema.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import { OPERATORS } from '../../graph/operators.js';
import { judgeHere } from './judge-here.js';

const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/use/nodes.md'), 'utf8');

describe('the page of the nodes', () => {
  it('lists every kind, with the fields of its result', () => {
    const rows = [...text.matchAll(/^\| `([\w-]+-node)` \|[^|]*\|([^|]*)\|$/gm)];
    const told = rows.map(([, type, fields]) => [type, [...fields!.matchAll(/`(\w+)`/g)].map(([, name]) => name)]);
    const known = Object.values(nodeDefinitions).map(({ type, outputSchema }) => [type, fieldsOf(outputSchema)]);
    assert.deepEqual(toSorted(told), toSorted(known));
  });

  const section = text.slice(text.indexOf('## Conditions'), text.indexOf('## Switch'));

  it('shows a condition of several comparisons that is judged as it says', () => {
    const [, example] = /^```json\n(.*?)^```$/ms.exec(section) ?? [];
    const condition = conditionSchema.parse(JSON.parse(example!));
    const asked = (input: Record<string, unknown>) => judgeHere([condition], { input, results: new Map() }, 'first');
    assert.deepEqual(asked({ country: 'NL', total: 101 }), [0]);
    assert.deepEqual(asked({ country: 'NL', total: 9, tags: ['regular'] }), [0]);
    assert.deepEqual(asked({ country: 'NL', total: 9, tags: [] }), []);
    assert.deepEqual(asked({ country: 'BE', total: 101 }), []);
  });

  it('explains every operator', () => {
    const rows = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell!);
    const told = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, operator]) => operator!));
    assert.deepEqual(told.filter((word) => word !== 'operator').toSorted(), OPERATORS.toSorted());
  });
});

function fieldsOf(schema: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(schema);
  return Object.keys(properties).filter((name) => name !== 'content');
}

function toSorted(rows: unknown[][]): string[] {
  return rows.map(([type, fields]) => `${String(type)}: ${(fields as string[]).toSorted().join(', ')}`).toSorted();
}
