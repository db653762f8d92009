// Files of n8n whose connections, versions and parameters have other forms than those that n8n writes.
import assert from 'node:assert/strict';
import { readN8nFile } from '../../n8n/n8n-file.js';
import { translateN8n } from '../../n8n/translate-n8n.js';

const node = (name: string, type: string, rest: object = {}) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  position: [0, 0],
  parameters: {},
  ...rest,
});
const NODES = [
  node('A', 'manualTrigger', { typeVersion: 1 }),
  node('B', 'if', { typeVersion: 2 }),
  node('C', 'noOp', { typeVersion: 1 }),
];

/** `A 0 B 1` is a link from the first output of A to the second input of B. */
function read(connections: unknown) {
  const { links, warnings } = readN8nFile({ nodes: NODES, connections });
  return {
    links: links.map(({ from, output, to, input }) => `${from.name} ${output} ${to.name} ${input}`),
    warnings: warnings.map(({ node: name, message }) => `${name}: ${message}`),
  };
}

const odd = (name: string, place: string): string =>
  `${name}: What its connections have at ${place} is not in the form of n8n and was left out.`;

describe('connections of files of n8n', () => {
  const taken: [what: string, connections: unknown, links: string[]][] = [
    ['outputs by their numbers', { B: { main: { 1: [{ node: 'C', type: 'main', index: 0 }] } } }, ['B 1 C 0']],
    ['null for an output', { B: { main: [null, [{ node: 'C', type: 'main', index: 0 }]] } }, ['B 1 C 0']],
    ['numbers as text', { A: { main: [[{ node: 'B', type: 'main', index: '1' }]] } }, ['A 0 B 1']],
    ['no number of the input', { A: { main: [[{ node: 'B' }]] } }, ['A 0 B 0']],
    ['no connections at all', undefined, []],
    ['nothing in any form', { A: { main: null }, B: { main: [] }, C: null }, []],
    ['an empty list for an empty object', [], []],
  ];
  for (const [what, connections, links] of taken) {
    it(`with ${what} are taken as n8n takes them`, () => {
      assert.deepEqual(read(connections), { links, warnings: [] });
    });
  }

  const refused: [what: string, connections: unknown, warnings: string[]][] = [
    ['targets in place of outputs', { A: { main: [{ node: 'B' }] } }, [odd('A', '"main", 0')]],
    ['a name for a target', { A: { main: [['B']] } }, [odd('A', '"main", 0, 0')]],
    ['a target without a node', { A: { main: [[{ type: 'main', index: 0 }]] } }, [odd('A', '"main", 0, 0')]],
    ['a number that is none', { A: { main: [[{ node: 'B', index: 'first' }]] } }, [odd('A', '"main", 0, 0')]],
    ['half a number', { A: { main: [[{ node: 'B', index: 0.5 }]] } }, [odd('A', '"main", 0, 0')]],
    ['an input beyond all', { A: { main: [[{ node: 'B', index: 5000 }]] } }, [odd('A', '"main", 0, 0')]],
    ['a name for an output', { A: { main: { out: [{ node: 'B' }] } } }, [odd('A', '"main", out')]],
    ['a text for outputs', { A: { main: 'B' } }, [odd('A', '"main"')]],
    ['no kind', { A: [[{ node: 'B' }]] }, [odd('A', 'their beginning')]],
    [
      'a list of sources',
      [{ source: 'A', target: 'B' }],
      ['null: The "connections" are not in the form of n8n. No link was taken over.'],
    ],
    ['a text', 'A -> B', ['null: The "connections" are not in the form of n8n. No link was taken over.']],
    [
      'an unknown node',
      { X: { main: [[{ node: 'B' }]] } },
      ['B: A connection names the node "X", which the file does not have.'],
    ],
  ];
  for (const [what, connections, warnings] of refused) {
    it(`with ${what} are reported on their node`, () => {
      assert.deepEqual(read(connections), { links: [], warnings });
    });
  }

  it('keep what is understood beside what is not', () => {
    assert.deepEqual(read({ A: { main: [['B', { node: 'C' }]] } }), {
      links: ['A 0 C 0'],
      warnings: [odd('A', '"main", 0, 0')],
    });
  });
});

describe('the bounds of files of n8n', () => {
  const nodes = Array.from({ length: 300 }, (_, number) => node(`N${number}`, 'noOp'));
  /** The first `count` of all possible links between the nodes. Every second target is linked as `ai_tool`. */
  function connectionsOf(count: number) {
    const targetsOf = (from: number, kind: string) =>
      nodes.flatMap(({ name }, to) => {
        const isThere = from * nodes.length + to < count && to % 2 === (kind === 'main' ? 0 : 1);
        return isThere ? [{ node: name, type: kind, index: 0 }] : [];
      });
    return Object.fromEntries(
      nodes.map(({ name }, from) => [name, { main: [targetsOf(from, 'main')], ai_tool: [targetsOf(from, 'ai_tool')] }]),
    );
  }

  it('are 50,000 links of all kinds: further ones are left out and reported on their node', () => {
    for (const [count, taken] of [
      [50_000, 50_000],
      [50_002, 50_000],
    ] as const) {
      const { links, subNodes, warnings } = readN8nFile({ nodes, connections: connectionsOf(count) });
      assert.equal(links.length + subNodes.length, taken);
      const message = 'A connection was left out: the file has more than 50000.';
      assert.deepEqual(
        warnings,
        Array.from({ length: count - taken }, () => ({ node: 'N166', message })),
      );
    }
  });

  it('are 1,000 warnings, of nodes and connections together', () => {
    const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
    const links = (count: number) => ({ A: { main: [numbers(count)] } });
    const warningsOf = (nodesOf: unknown[], connections: unknown = {}) =>
      readN8nFile({ nodes: [...NODES, ...nodesOf], connections }).warnings;
    const twins = (count: number) => numbers(count).map(() => node('A', 'noOp', { typeVersion: 'x', parameters: 'y' }));
    for (const [at, found] of [
      [999, warningsOf(numbers(999))],
      [1_000, warningsOf(numbers(1_000))],
      [1_000, warningsOf(numbers(1_001))],
      [999, warningsOf([], links(999))],
      [1_000, warningsOf([], links(1_001))],
      [1_000, warningsOf(numbers(600), links(401))],
      [999, warningsOf(twins(333))],
      [1_000, warningsOf(twins(334))],
    ] as const) {
      assert.equal(found.length, at);
    }
    const { warnings } = translateN8n({ nodes: [...NODES, ...numbers(2_000)], connections: {} });
    assert.equal(warnings.length, 1_000);
  });
});

describe('names in files of n8n that every object of JavaScript has', () => {
  for (const name of ['constructor', '__proto__']) {
    it(`are unknown types, roles and operations: ${name}`, () => {
      const inputs = { workflowInputs: { values: [{ name: 'a', type: name }] } };
      const chain = node('Chain', 'chainLlm', {
        type: '@n8n/n8n-nodes-langchain.chainLlm',
        parameters: { promptType: 'define', text: 'x', messages: { messageValues: [{ type: name, message: 'y' }] } },
      });
      const rules = [{ value1: 'a', value2: 'b' }];
      const old = node('Old', 'if', { typeVersion: 1, parameters: { conditions: { [name]: rules } } });
      const nodes = [node('Start', 'executeWorkflowTrigger', { typeVersion: 1.1, parameters: inputs }), chain, old];
      const main = (to: string) => ({ main: [[{ node: to, type: 'main', index: 0 }]] });
      const { drawing } = translateN8n({ nodes, connections: { Start: main('Chain'), Chain: main('Old') } });
      const written = JSON.stringify(drawing);
      assert.match(written, /"id":"a","title":"a","type":"text"/);
      assert.match(written, /"role":"user"[^{}]*"message":"y"|"message":"y"[^{}]*"role":"user"/);
    });
  }
});

describe('versions of nodes in files of n8n', () => {
  const SET = { assignments: { assignments: [{ id: '1', name: 'x', value: 'y', type: 'string' }] } };
  const OLD_SET = { values: { string: [{ name: 'x', value: 'y' }] }, keepOnlySet: true };

  /** Returns the value of an imported set node, and the warnings on it. */
  function set(rest: object) {
    const nodes = [NODES[0], node('Set', 'set', rest)];
    const connections = { A: { main: [[{ node: 'Set', type: 'main', index: 0 }]] } };
    const { drawing, warnings } = translateN8n({ nodes, connections });
    const made = (drawing['nodes'] as { data: { label: string; value?: unknown } }[]).find(
      ({ data }) => data.label === 'Set',
    );
    return { value: made?.data.value, warnings: warnings.map(({ node: name, message }) => `${name}: ${message}`) };
  }

  it('are the newest where none is given, as in n8n', () => {
    for (const typeVersion of [undefined, null, 0, '']) {
      assert.deepEqual(set({ typeVersion, parameters: SET }), { value: { x: 'y' }, warnings: [] }, `${typeVersion}`);
    }
  });

  it('may be texts', () => {
    assert.deepEqual(set({ typeVersion: '3.4', parameters: SET }), { value: { x: 'y' }, warnings: [] });
    assert.deepEqual(set({ typeVersion: '2', parameters: OLD_SET }), { value: { x: 'y' }, warnings: [] });
  });

  it('that are none are reported on their node', () => {
    const warnings = ['Set: Its "typeVersion" is no version. It was read as the newest one.'];
    for (const typeVersion of ['latest', -1, {}, true]) {
      assert.deepEqual(
        set({ typeVersion, parameters: SET }),
        { value: { x: 'y' }, warnings },
        JSON.stringify(typeVersion),
      );
    }
  });

  it('decide what parameters are read, and those of another version are reported', () => {
    const { warnings: newest } = set({ parameters: OLD_SET });
    assert.match(
      newest.join('\n'),
      /^Set: These parameters are none of the newest version, .*: values, keepOnlySet\.$/,
    );
    const { warnings: old } = set({ typeVersion: 2, parameters: SET });
    assert.match(old.join('\n'), /^Set: These parameters are none of its version 2, and were left out: assignments\.$/);
  });

  it('leave out parameters that are no object, and report that', () => {
    const { warnings } = set({ typeVersion: 3, parameters: '{"assignments": {}}' });
    assert.deepEqual(warnings, ['Set: Its "parameters" are no object and were left out.']);
    assert.deepEqual(set({ typeVersion: 3, parameters: [] }).warnings, []);
  });
});

describe('parameters of files of n8n', () => {
  it('with numbers that begin with zeros are translated as code', () => {
    const parameters = { method: 'GET', url: '={{ 0049 }}' };
    const file = { nodes: [NODES[0], node('X', 'httpRequest', { typeVersion: 4.2, parameters })], connections: {} };
    assert.match(JSON.stringify(translateN8n(file).drawing), /http-node/);
  });

  it('with the names of properties that every object has are treated like unknown names', () => {
    const types = (name: string): [type: string, typeVersion: number, parameters: object][] => [
      ['slack', 2, { resource: name }],
      ['slack', 2, { resource: name, operation: name }],
      ['slack', 2, { resource: 'message', operation: name }],
      [
        'httpRequest',
        4.2,
        {
          url: 'https://a.example',
          options: {
            pagination: {
              pagination: {
                paginationMode: 'updateAParameterInEachRequest',
                parameters: { parameters: [{ type: name, name: 'a', value: 'b' }] },
              },
            },
          },
        },
      ],
    ];
    const translated = (name: string): string[] =>
      types(name).map(([type, typeVersion, parameters]) => {
        const file = { nodes: [NODES[0], node('X', type, { typeVersion, parameters })], connections: {} };
        return JSON.stringify(translateN8n(file)).replaceAll(`\\"${name}\\"`, '(name)');
      });
    for (const name of ['constructor', '__proto__', 'toString']) {
      assert.deepEqual(translated(name), translated('noSuchName'), name);
    }
  });
});
