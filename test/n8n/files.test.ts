import assert from 'node:assert/strict';
import { checkDrawing } from '../../api/workflows/check-drawing.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { kindOfType } from '../../graph/nodes/registry.js';
import { translateN8n } from '../../n8n/translate-n8n.js';
import { toImportWarnings } from '../../api/workflows/import-remarks.js';
import { cases } from './n8n-files.js';

describe('files of n8n, translated', () => {
  it('are thirty and more, of different kinds', () => {
    const kinds = new Set(cases.flatMap(({ expected }) => Object.values(expected.kinds)));
    assert.ok(cases.length >= 30, `${cases.length} files`);
    const all = ['agent', 'code', 'condition', 'for_each', 'http', 'human', 'llm', 'loop', 'output', 'set', 'switch'];
    assert.deepEqual([...kinds].toSorted(), [...all, 'trigger', 'wait', 'workflow']);
  });

  for (const { name, text, expected } of cases) {
    it(`${name} becomes a valid drawing, and what was left out is listed`, () => {
      const { title, drawing, warnings } = translateN8n(JSON.parse(text) as JsonObject);
      assert.equal(title ?? null, expected.title);
      assert.deepEqual(kindsByLabel(drawing), expected.kinds);
      assert.deepEqual(toImportWarnings(warnings), expected.warnings);
      const checked = checkDrawing(drawing, {}, 365);
      assert.notEqual(checked.status, 400, JSON.stringify(checked.errors));
      assert.deepEqual(
        checked.errors.map((error) => error.path),
        expected.missing,
      );
      assert.deepEqual(
        checked.warnings.map(({ code }) => code),
        expected.checked,
      );
    });

    it(`${name} has a note for each node that was left out, outside of the nodes`, () => {
      const { drawing } = translateN8n(JSON.parse(text) as JsonObject);
      const notes = (drawing['notes'] ?? []) as { text: string }[];
      const leftOut = expected.warnings.filter(({ message }) => /^(\S+|The node) was left out: /.test(message));
      for (const { node } of leftOut) {
        assert.ok(
          notes.some((note) => note.text.startsWith(`${node} (`)),
          `a note for ${node}`,
        );
      }
    });
  }
});

describe('a switch of n8n that takes all outputs that match', () => {
  function translate(takesAll: boolean) {
    const rule = (value: string) => ({
      conditions: {
        conditions: [
          { leftValue: '={{ $json.a }}', rightValue: value, operator: { type: 'string', operation: 'equals' } },
        ],
      },
    });
    const options = takesAll ? { allMatchingOutputs: true } : {};
    const node = (name: string, type: string, parameters = {}) => ({
      id: name,
      name,
      type,
      typeVersion: 3,
      position: [0, 0],
      parameters,
    });
    const nodes = [
      node('Start', 'n8n-nodes-base.manualTrigger'),
      node('Which', 'n8n-nodes-base.switch', { rules: { values: [rule('x'), rule('y')] }, options }),
      node('After', 'n8n-nodes-base.noOp'),
    ];
    const after = [{ node: 'After', type: 'main', index: 0 }];
    const connections = {
      Start: { main: [[{ node: 'Which', type: 'main', index: 0 }]] },
      Which: { main: [after, after] },
    };
    return translateN8n({ nodes, connections }).warnings.map(({ node: name, message }) => `${name}: ${message}`);
  }

  it('may bring data by two links at once, and is told so; one that takes the first is not', () => {
    assert.deepEqual(translate(false), []);
    assert.deepEqual(translate(true), [
      'After: n8n runs this node once for each link that brings data. Here it runs once, after all of them.',
    ]);
  });
});

function kindsByLabel(drawing: JsonObject): Record<string, string> {
  const nodes = (drawing['nodes'] as unknown[]).filter(isObject);
  return Object.fromEntries(
    nodes.map(({ type, data }) => [String((data as JsonObject)['label']), kindOfType(String(type)) ?? 'unknown']),
  );
}
