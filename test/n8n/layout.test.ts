import assert from 'node:assert/strict';
import { withRemarks } from '../../api/workflows/import-remarks.js';
import type { JsonObject } from '../../graph/json.js';
import { translateN8n } from '../../n8n/translate-n8n.js';
import { cases } from './n8n-files.js';

interface Drawn {
  id: string;
  position: { x: number; y: number };
  data: { label: string; output?: unknown };
}
interface Note {
  text: string;
  position: { x: number; y: number };
  left_out?: true;
}

const translate = (text: string) => translateN8n(JSON.parse(text) as JsonObject);
const nodesOf = ({ drawing }: ReturnType<typeof translate>) => drawing['nodes'] as Drawn[];
const notesOf = ({ drawing }: ReturnType<typeof translate>) => (drawing['notes'] ?? []) as Note[];

/** Returns true if the cards of nodes at these two positions overlap on the canvas. */
const covers = (one: Drawn['position'], other: Drawn['position']) =>
  Math.abs(one.x - other.x) < 260 && Math.abs(one.y - other.y) < 110;

/** Nodes of n8n, by name, one after the other in a row 220 pixels apart. */
function row(nodes: Record<string, { type: string; typeVersion?: number; parameters?: object; credentials?: object }>) {
  const names = Object.keys(nodes);
  return {
    name: 'Row',
    nodes: names.map((name, at) => ({
      id: name,
      name,
      position: [at * 220, 0],
      typeVersion: 1,
      parameters: {},
      ...nodes[name],
    })),
    connections: Object.fromEntries(
      names.slice(0, -1).map((name, at) => [name, { main: [[{ node: names[at + 1], type: 'main', index: 0 }]] }]),
    ),
  } as unknown as JsonObject;
}

describe('the places of nodes of n8n', () => {
  for (const { name, text } of cases) {
    it(`${name}: no added node overlaps another node or the mark of a node that was left out`, () => {
      const translated = translate(text);
      const nodes = nodesOf(translated);
      const inFile = new Set((JSON.parse(text) as { nodes: { id: string }[] }).nodes.map(({ id }) => id));
      const added = nodes.filter(({ id }) => !inFile.has(id));
      const marks = notesOf(translated).filter((note) => note.left_out === true);
      for (const node of added) {
        for (const other of [...nodes, ...marks]) {
          if (other === node) continue;
          assert.equal(covers(node.position, other.position), false, `${node.data.label} and ${JSON.stringify(other)}`);
        }
      }
    });
  }
});

describe('a node that is added before one of the file', () => {
  it('stands left of it in the same row, and moves what is right of both', () => {
    const { drawing } = translateN8n(
      row({
        Start: { type: 'n8n-nodes-base.manualTrigger' },
        Items: {
          type: 'n8n-nodes-base.set',
          typeVersion: 3.4,
          parameters: { assignments: { assignments: [{ id: '1', name: 'list', value: '[1, 2]', type: 'array' }] } },
        },
        Split: { type: 'n8n-nodes-base.splitOut', parameters: { fieldToSplitOut: 'list' } },
        Fetch: { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, parameters: { url: 'https://example.com' } },
        Done: { type: 'n8n-nodes-base.noOp' },
      }),
    );
    const nodes = (drawing['nodes'] as Drawn[]).toSorted((one, other) => one.position.x - other.position.x);
    const labels = nodes.map(({ data }) => data.label);
    assert.deepEqual(labels, ['Start', 'Items', 'Split', 'Fetch (items)', 'Fetch (each item)', 'Fetch', 'Done']);
    assert.equal(new Set(nodes.map(({ position }) => position.y)).size, 1);
    const gaps = nodes.slice(1).map(({ position }, at) => position.x - nodes[at]!.position.x);
    assert.ok(
      gaps.every((gap) => gap >= 260),
      gaps.join(),
    );
  });
});

function fieldOf(value: string) {
  return { id: '1', name: 'list', value: value.startsWith('=') ? value : `[${value}]`, type: 'array' };
}

describe('what an import leaves to a person', () => {
  const file = row({
    Daily: {
      type: 'n8n-nodes-base.scheduleTrigger',
      parameters: { rule: { interval: [{ field: 'days', triggerAtHour: 9 }] } },
    },
    Fetch: {
      type: 'n8n-nodes-base.httpRequest',
      typeVersion: 4.2,
      parameters: {
        url: 'https://example.com',
        authentication: 'genericCredentialType',
        genericAuthType: 'httpHeaderAuth',
      },
    },
    Rows: { type: 'n8n-nodes-base.googleSheets' },
    Done: { type: 'n8n-nodes-base.noOp' },
  });

  it('stays in the drawing, at its node, with what settles it', () => {
    const { drawing, warnings } = translateN8n(file);
    const remarks = withRemarks(drawing, warnings)['remarks'] as {
      node_id: string | null;
      message: string;
      fix?: object;
    }[];
    const of = (node: string | null) => remarks.filter(({ node_id: id }) => id === node);
    assert.deepEqual(of('Daily')[0]?.fix, { schedule: '0 9 * * *' });
    assert.ok(of('Fetch').some(({ fix }) => fix !== undefined && 'field' in fix && fix.field === 'connection'));
    assert.ok(of(null).some(({ message }) => message.startsWith('Rows: n8n-nodes-base.googleSheets was left out')));
    assert.equal(remarks.length, warnings.length);
  });

  for (const [what, type, typeVersion, parameters, isTold] of [
    ['fields of their own', 'set', 3.4, { assignments: { assignments: [fieldOf('1')] } }, false],
    [
      'fields beside those',
      'set',
      3.4,
      { assignments: { assignments: [fieldOf('1')] }, includeOtherFields: true },
      true,
    ],
    ['JSON of its own', 'set', 3.4, { mode: 'raw', jsonOutput: '{"a": [1]}' }, false],
    ['a field of those', 'set', 3.4, { assignments: { assignments: [fieldOf('={{ [$json].length }}')] } }, true],
    ['a list of its own', 'code', 2, { jsCode: 'return [{ json: { a: 1 } }]' }, false],
    ['the items', 'code', 2, { jsCode: 'return items' }, true],
  ] as const) {
    it(`names the data that a schedule does not give where a node puts out ${what}: ${isTold}`, () => {
      const { warnings } = translateN8n(
        row({
          Daily: {
            type: 'n8n-nodes-base.scheduleTrigger',
            parameters: { rule: { interval: [{ field: 'days', triggerAtHour: 9 }] } },
          },
          Next: { type: `n8n-nodes-base.${type}`, typeVersion, parameters },
        }),
      );
      assert.equal(
        warnings.some(({ node }) => node === 'Next'),
        isTold,
        JSON.stringify(warnings),
      );
    });
  }

  it('has a mark where a node was left out', () => {
    const { drawing } = translateN8n(file);
    const [mark] = drawing['notes'] as Note[];
    assert.equal(mark!.left_out, true);
    assert.match(mark!.text, /^Rows \(n8n-nodes-base\.googleSheets\): /);
  });

  it('includes a for-each whose body was left out: it returns its items, with a warning', () => {
    const looped = row({
      Start: { type: 'n8n-nodes-base.manualTrigger' },
      Each: { type: 'n8n-nodes-base.splitInBatches', typeVersion: 3 },
      Rows: { type: 'n8n-nodes-base.googleSheets' },
    });
    const link = (node: string) => [{ node, type: 'main', index: 0 }];
    const { drawing, warnings } = translateN8n({
      ...looped,
      connections: {
        Start: { main: [link('Each')] },
        Each: { main: [[], link('Rows')] },
        Rows: { main: [link('Each')] },
      },
    });
    const each = (drawing['nodes'] as (Drawn & { type: string })[]).find(({ type }) => type === 'for-each-node');
    assert.equal(each?.data.output, `{{ ${each?.id}.item }}`);
    assert.ok(
      warnings.some(({ node, message }) => node === 'Each' && message.startsWith('What its loop gives cannot be read')),
      JSON.stringify(warnings),
    );
  });
});
