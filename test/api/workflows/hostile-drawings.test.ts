// Drawings, inputs and secrets of a legal size that are built to cost time or memory. The bounds are processor time and
// allow for a slow machine. Without the limit that it tests, each case took ten times as long or did not end.
import assert from 'node:assert/strict';
import { checkDrawing } from '../../../api/workflows/check-drawing.js';
import { parseJsonBody } from '../../../api/http/json-body.js';
import { MAX_JSON_VALUES } from '../../../graph/json-text.js';
import { parseFields } from '../../../api/http/field-errors.js';
import { workflowChangesSchema } from '../../../api/workflows/workflow-body.js';
import { createMasker } from '../../../graph/mask.js';
import { MASK } from '../../../graph/mask-text.js';
import { joinSecrets, splitSecrets } from '../../../graph/secrets.js';
import { cpuMilliseconds } from '../../support/cpu-time.js';

const MIB = 1024 * 1024;
const BOUND_MS = 4_000;
type Data = Record<string, unknown>;

describe('hostile drawings', () => {
  describe('parsing and checking', () => {
    const cases: [title: string, make: () => object][] = [
      ['5,000 nodes with 80 links each', () => nodes(5000, 'trigger-node', (next) => ({ next_nodes: next(80) }))],
      [
        '5,000 nodes that each name the first one 60 times',
        () => nodes(5000, 'http-node', (next) => ({ url: '{{ n0.result.content }}'.repeat(60), next_nodes: next(20) })),
      ],
      ['100,000 edges to nowhere', () => ({ ...nodes(1, 'trigger-node', () => ({})), edges: edges(100_000) })],
      [
        '380,000 messages that are no objects',
        () => nodes(20, 'basic-node', (next) => ({ messages: Array(19_000).fill(0), next_nodes: next(1) })),
      ],
      [
        '9,900 headers that are none',
        () => nodes(1, 'http-node', () => ({ url: 'x', headers: headers(9_900, 'h', []) })),
      ],
      [
        'tools by the ten thousand',
        () => nodes(20, 'agent-node', (next) => ({ messages: [{}], tools: empty(9_000), next_nodes: next(1) })),
      ],
      [
        '120,000 empty conditions, half of them in a list',
        () => {
          const nothing = { left: '', operator: 'is_empty' };
          const asked = Array.from({ length: 60_000 }, () => ({ condition: nothing }));
          return {
            nodes: [
              { id: 'n0', type: 'switch-node', data: { cases: asked } },
              {
                id: 'n1',
                type: 'if-else-node',
                data: { condition: { any: Array.from({ length: 60_000 }, () => nothing) } },
              },
              { id: 'n2', type: 'trigger-node', data: { next_nodes: ['n0', 'n1'] } },
            ],
            start_node: 'n2',
          };
        },
      ],
      ['700,000 variables', () => nodes(1, 'http-node', () => ({ url: '{{ input.x }}'.repeat(700_000) }))],
      ['open braces alone', () => nodes(1, 'http-node', () => ({ url: '{{'.repeat(4 * MIB) }))],
      ['braces the wrong way round', () => nodes(1, 'http-node', () => ({ url: '}}{{'.repeat(2 * MIB) }))],
      ['a label of megabytes', () => nodes(1, 'trigger-node', () => ({ label: '\u{1f600}'.repeat(MIB) }))],
      ['240,000 empty nodes', () => ({ nodes: empty(240_000), start_node: 'a' })],
      ['240,000 trigger fields', () => nodes(1, 'trigger-node', () => ({ input_fields: empty(240_000) }))],
    ];
    for (const [title, make] of cases) {
      it(`${title}: costs a bounded time`, () => {
        const text = JSON.stringify(make());
        const tookMs = cpuMilliseconds(() => {
          const data = parseJsonBody(text) as Data;
          parseFields(workflowChangesSchema, { data });
          const { masked, secrets } = splitSecrets(data);
          checkDrawing(joinSecrets(masked, secrets), secrets, 365, { isChat: true });
        });
        assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
      });
    }
  });

  describe('secrets', () => {
    it('of megabytes are found by their beginning, and nothing behind it is shown', () => {
      const secret = Array.from({ length: MIB / 2 }, (_, index) => String(index)).join('');
      let shown: Data = {};
      const tookMs = cpuMilliseconds(() => {
        const masker = createMasker([secret, 'another secret']);
        const encoded = Buffer.from(`x${secret}`).toString('base64');
        shown = masker.json({ whole: `a ${secret} b`, encoded, other: 'this is another secret.', plain: 'plain' });
      });
      assert.deepEqual([shown['whole'], shown['other'], shown['plain']], [`a ${MASK}`, `this is ${MASK}.`, 'plain']);
      assert.ok(String(shown['encoded']).length < 12);
      assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
    });

    it('that are too many to be searched for mask every text', () => {
      const secrets = Array.from({ length: 200_000 }, (_, index) => `secret-${index}`);
      let shown: unknown;
      const tookMs = cpuMilliseconds(() => {
        shown = createMasker(secrets).json({ a: 'secret-7', b: ['', 'plain'], c: 1 });
      });
      assert.deepEqual(shown, { [MASK]: MASK });
      assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
    });

    it('more places for secrets than a drawing may have are a 400 on data', () => {
      const fields = Array.from({ length: 10_001 }, (_, index) => ({ id: `f${index}`, is_secret: true }));
      const drawings = [
        nodes(1, 'trigger-node', () => ({ input_fields: fields })),
        nodes(2, 'mcp-node', () => ({ headers: headers(6000, 'x-key', 'v') })),
        nodes(1, 'agent-node', () => ({ tools: [{ headers: headers(10_001, 'x-key', 'v') }] })),
      ];
      for (const data of drawings) {
        assert.throws(() => parseFields(workflowChangesSchema, { data }), {
          status: 400,
          fields: { data: [TOO_MANY] },
        });
      }
    });
  });

  it('lists of a body are counted before they are read', () => {
    const wrong = Array.from({ length: 300_000 }, () => ({}));
    const tookMs = cpuMilliseconds(() =>
      assert.throws(() => parseFields(workflowChangesSchema, { categories: wrong, available_languages: wrong }), {
        fields: {
          available_languages: ['Ensure this field has no more than 200 elements.'],
          categories: ['Ensure this field has no more than 100 elements.'],
        },
      }),
    );
    assert.ok(tookMs < BOUND_MS, `${tookMs} ms`);
  });

  it(`more than ${MAX_JSON_VALUES} values are refused before the parser allocates for them`, () => {
    for (const piece of ['[]', '{}', '0', '""', '{"a":0}']) {
      const text = `[${Array(MAX_JSON_VALUES + 1)
        .fill(piece)
        .join(',')}]`;
      assert.throws(() => parseJsonBody(text), {
        status: 400,
        code: 'parse_error',
        message: /more than 500000 values/,
      });
    }
    assert.doesNotThrow(() => parseJsonBody(JSON.stringify([',['.repeat(MAX_JSON_VALUES)])));
  });
});

const TOO_MANY = 'A drawing may have 10000 secret fields and headers at most.';

function nodes(count: number, type: string, data: (next: (fan: number) => string[]) => Data): Data {
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  const made = ids.map((id, index) => ({ id, type, data: data((fan) => ids.slice(index + 1, index + 1 + fan)) }));
  return { nodes: made, start_node: 'n0' };
}

function empty(count: number): object[] {
  return Array.from({ length: count }, () => ({}));
}

function edges(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ source: 'n0', target: `x${index}` }));
}

function headers(count: number, name: string, value: unknown): Data {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}-${name}`, value]));
}
