import assert from 'node:assert/strict';
import { checkDrawing } from '../../api/workflows/check-drawing.js';
import type { JsonObject } from '../../graph/json.js';
import { findLoops } from '../../n8n/loops.js';
import { readN8nFile } from '../../n8n/n8n-file.js';
import { translateN8n } from '../../n8n/translate-n8n.js';
import { createRandom } from '../api/fuzz/random.js';

interface Step {
  type: string;
  typeVersion?: number;
  parameters?: object;
}

/** A file of n8n. `links` has, for each node, the targets of each output. */
function fileOf(steps: Record<string, Step>, links: Record<string, string[][]>) {
  const nodes = Object.entries(steps).map(([name, step]) => ({
    id: name,
    name,
    typeVersion: 1,
    position: [0, 0],
    parameters: {},
    ...step,
    type: `n8n-nodes-base.${step.type}`,
  }));
  const connections = Object.fromEntries(
    Object.entries(links).map(([from, outputs]) => [
      from,
      { main: outputs.map((targets) => targets.map((node) => ({ node, type: 'main', index: 0 }))) },
    ]),
  );
  return { nodes, connections };
}

/** Returns the loops of a file whose links are given as `A B`. */
function loopsOf(pairs: readonly string[]) {
  const targets = new Map<string, string[]>();
  for (const pair of pairs) {
    const [from, to] = pair.split(' ') as [string, string];
    targets.set(from, [...(targets.get(from) ?? []), to]);
    if (!targets.has(to)) targets.set(to, []);
  }
  const file = fileOf(
    Object.fromEntries([...targets.keys()].map((name) => [name, { type: 'noOp' }])),
    Object.fromEntries([...targets].map(([name, each]) => [name, [each]])),
  );
  const { nodes, links } = readN8nFile(file);
  return { ...findLoops(nodes, links), all: links };
}

const toPair = ({ from, to }: { from: { name: string }; to: { name: string } }) => `${from.name} ${to.name}`;

describe('cycles of a file of n8n', () => {
  it('are cut before the node by which they are entered, and a node behind one keeps its links', () => {
    const retry = fileOf(
      {
        Start: { type: 'manualTrigger' },
        If: { type: 'if', typeVersion: 2 },
        Notify: { type: 'noOp' },
        Check: { type: 'if', typeVersion: 2 },
        Wait: { type: 'wait', parameters: { amount: 1, unit: 'seconds' } },
      },
      { Start: [['If']], If: [['Notify'], ['Check']], Check: [['Notify'], ['Wait']], Wait: [['Check']] },
    );
    const { warnings } = translateN8n(retry);
    assert.deepEqual(
      warnings.filter(({ message }) => message.includes('connection')),
      [{ node: 'Wait', message: 'Its connection back to "Check" was left out: here only loops repeat nodes.' }],
    );
  });

  it('that share nodes, have two entries or one node lose only links that close one', () => {
    assert.deepEqual(loopsOf(['A B', 'B A', 'B C', 'C B', 'C D']).cut.map(toPair), ['B A', 'C B']);
    assert.deepEqual(loopsOf(['S A', 'A A', 'A B']).cut.map(toPair), ['A A']);
    assert.equal(loopsOf(['S A', 'S B', 'A B', 'B A', 'A C', 'B C']).cut.length, 1);
  });

  it('of random links are cut so that none is left, and only by links that close one', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = createRandom(seed);
      const pick = () => `N${random.below(8)}`;
      const { all, links, cut, inOrder } = loopsOf(Array.from({ length: 14 }, () => `${pick()} ${pick()}`));
      const place = new Map(inOrder.map((node, at) => [node, at]));
      assert.ok(
        links.every(({ from, to }) => place.get(from)! < place.get(to)!),
        `seed ${seed}: in order`,
      );
      for (const { from, to } of cut) {
        const reached = new Set([to]);
        for (const node of reached) for (const link of all) if (link.from === node) reached.add(link.to);
        assert.ok(reached.has(from), `seed ${seed}: ${from.name} ${to.name} closes a cycle`);
      }
    }
  });

  it('may be as long as the file', () => {
    const count = 20_000;
    const { cut, inOrder } = loopsOf(Array.from({ length: count }, (_, at) => `N${at} N${(at + 1) % count}`));
    assert.equal(inOrder.length, count);
    assert.deepEqual(cut.map(toPair), [`N${count - 1} N0`]);
  });
});

describe('a loop over items', () => {
  it('of version 2 gives a node behind it what it gives at its end, as one of version 3 does', () => {
    const inputsOf = (typeVersion: number) => {
      const [each, done] = [['Body'], ['After']];
      const file = fileOf(
        {
          Start: { type: 'manualTrigger' },
          Loop: { type: 'splitInBatches', typeVersion, parameters: { batchSize: 1 } },
          Body: { type: 'noOp' },
          After: { type: 'noOp' },
          Reader: { type: 'code', typeVersion: 2, parameters: { jsCode: "return $('Loop').all();" } },
        },
        {
          Start: [['Loop']],
          Loop: typeVersion < 3 ? [each, done] : [done, each],
          Body: [['Loop']],
          After: [['Reader']],
        },
      );
      const nodes = translateN8n(file).drawing['nodes'] as { id: string; data: JsonObject }[];
      return nodes.find(({ id }) => id === 'Reader')!.data['inputs'];
    };
    assert.match(JSON.stringify(inputsOf(3)), /Loop\.result\.items/);
    assert.deepEqual(inputsOf(2), inputsOf(3));
  });

  describe('in others', () => {
    const pages: Step = {
      type: 'httpRequest',
      typeVersion: 4.2,
      parameters: {
        url: 'https://api.example.com/rows',
        options: {
          pagination: {
            pagination: { parameters: { parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }] } },
          },
        },
      },
    };
    const located = (value: string) => ({ __rl: true, mode: 'id', value });
    const rows: Step = {
      type: 'googleSheets',
      typeVersion: 4.5,
      parameters: {
        operation: 'update',
        documentId: located('doc'),
        sheetName: { ...located('gid=0'), mode: 'list', cachedResultName: 'Rows' },
        columns: { mappingMode: 'defineBelow', value: { Name: 'Ada', Age: 37 }, matchingColumns: ['Name'] },
      },
    };
    /** `count` loops in each other. The innermost one executes `step` for several items. */
    function nested(count: number, step: Step) {
      const steps: Record<string, Step> = { Start: { type: 'manualTrigger' }, Step: step };
      const links: Record<string, string[][]> = { Start: [['Loop1']], Step: [[`Loop${count}`]] };
      for (let at = 1; at <= count; at++) {
        steps[`Loop${at}`] = { type: 'splitInBatches', typeVersion: 3, parameters: { batchSize: 2 } };
        links[`Loop${at}`] = [at === 1 ? [] : [`Loop${at - 1}`], [at === count ? 'Step' : `Loop${at + 1}`]];
      }
      return fileOf(steps, links);
    }

    for (const step of [pages, rows]) {
      for (const [count, leftOut] of [
        [3, []],
        [4, [`Step: n8n-nodes-base.${step.type} was left out: it is nested too deeply.`]],
      ] as const) {
        it(`${count} deep ${count === 3 ? 'execute' : 'leave out'} ${step.type} with a loop of its own for each item`, () => {
          const { drawing, warnings } = translateN8n(nested(count, step));
          const messages = warnings.map(({ node, message }) => `${node}: ${message}`);
          assert.deepEqual(
            messages.filter((message) => message.includes('was left out')),
            leftOut,
          );
          const errors = checkDrawing(drawing, {}, 365).errors.map(({ message }) => message);
          assert.deepEqual(
            errors.filter((message) => message.startsWith('The loop is nested deeper')),
            [],
          );
        });
      }
    }
  });
});
