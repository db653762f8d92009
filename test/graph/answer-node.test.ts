import assert from 'node:assert/strict';
import { answerNodesOf } from '../../graph/answer-node.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { cpuMilliseconds } from '../support/cpu-time.js';
import {
  agent,
  condition,
  drawing,
  link,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
} from '../../harness/drawing/drawing.js';
import type { Drawing, DrawingNode } from '../../harness/drawing/drawing.js';

function answering(data: Drawing): string[] {
  const compiled = compilePlan(data);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return [...answerNodesOf(data, compiled.plan)];
}
const output = (value: unknown): DrawingNode => node('output', { value });

describe('the node that answers', () => {
  it('is the one whose content the only output is, and the last one where there is no output', () => {
    const fresh = () => ({ first: llm('a'), last: agent('b', {}, []) });
    const inRow = (behind: (nodes: ReturnType<typeof fresh>) => DrawingNode[]): [string[], string] => {
      const nodes = fresh();
      return [answering(drawing(linkInRow([trigger(), ...behind(nodes)]))), nodes.last.id];
    };
    const found = ([ids, last]: [string[], string]): boolean => {
      assert.ok(ids.length === 0 || ids.join() === last);
      return ids.length > 0;
    };
    assert.ok(found(inRow(({ first, last }) => [first, last, output(resultOf(last))])));
    assert.ok(found(inRow(({ first, last }) => [first, last])));
    assert.ok(!found(inRow(({ first, last }) => [first, last, output(`Well: ${resultOf(last)}`)])));
    assert.ok(!found(inRow(({ first, last }) => [first, last, node('set', { value: 1 })])));
    assert.ok(!found(inRow(({ first, last }) => [output('first'), first, last])));
    assert.ok(!found(inRow(({ first, last }) => [first, output(resultOf(last)), last])));
  });

  it('is a different node on each branch where each branch puts out an answer of its own', () => {
    const [start, asked, yes, no] = [trigger(), condition('1', '==', '1'), llm('y'), llm('n')];
    link(start, asked);
    link(asked, yes, 'true');
    link(asked, no, 'false');
    assert.deepEqual(answering(drawing([start, asked, yes, no])).toSorted(), [yes.id, no.id].toSorted());
    const [one, two] = [output(resultOf(yes)), output(resultOf(no))];
    link(yes, one);
    link(no, two);
    assert.deepEqual(answering(drawing([start, asked, yes, no, one, two])).toSorted(), [yes.id, no.id].toSorted());
  });

  it('is no node whose answer a later condition may withhold', () => {
    const [start, writer, judge] = [trigger(), llm('w'), condition('1', '==', '1')];
    const [shown, refused] = [output(resultOf(writer)), output('No.')];
    linkInRow([start, writer, judge]);
    link(judge, shown, 'true');
    assert.deepEqual(answering(drawing([start, writer, judge, shown])), [], 'the other branch puts out nothing');
    link(judge, refused, 'false');
    assert.deepEqual(answering(drawing([start, writer, judge, shown, refused])), []);
    refused.data['value'] = resultOf(writer);
    assert.deepEqual(answering(drawing([start, writer, judge, shown, refused])), [writer.id]);
  });

  it('is none whose words a run keeps back after a failure of a loop that it survives', () => {
    for (const kind of ['loop', 'for_each'] as const) {
      const body = node('set', { value: 1 });
      const until = { left: '1', operator: '==', right: '1' };
      const settings = kind === 'loop' ? { max_rounds: 2, until } : { items: [1] };
      const [writer, loop] = [llm('w'), node(kind, { ...settings, body_node: body.id, on_error: 'branch' })];
      const end = output(resultOf(writer));
      const nodes = [...linkInRow([trigger(), writer, loop, end]), body];
      assert.deepEqual(answering(drawing(nodes)), [], `${kind} without an output behind its error exit`);
      const instead = output(resultOf(writer));
      loop.data['error_node'] = instead.id;
      assert.deepEqual(answering(drawing([...nodes, instead])), [writer.id], kind);
    }
  });

  it('is none of several that write at the same time, and none where a case of a switch may be one of several', () => {
    const [start, one, two] = [trigger(), llm('1'), llm('2')];
    link(start, [one, two]);
    assert.deepEqual(answering(drawing([start, one, two])), []);
    const cases = [one, two].map(({ id }) => ({
      id: `to-${id}`,
      condition: { left: '1', operator: '==', right: '1' },
      node: id,
    }));
    for (const mode of ['first', 'all']) {
      const split = node('switch', { cases, mode });
      const from = linkInRow([trigger(), split])[0]!;
      const expected = mode === 'all' ? [] : [one.id, two.id].toSorted();
      assert.deepEqual(answering(drawing([from, split, one, two])).toSorted(), expected, mode);
    }
  });

  it('is the one that the drawing names, but none that writes nothing or is in a body', () => {
    const [start, writer, other] = [trigger(), llm('w'), llm('o')];
    const inside = llm('{{ x }}');
    const loop = node('for_each', { items: '[1]', body_node: inside.id });
    const end = output(resultOf(other));
    const data = drawing(linkInRow([start, writer, loop, other, end]));
    data.nodes.push({ ...inside });
    const named = (answerNode: unknown): string[] => answering({ ...data, settings: { answer_node: answerNode } });
    assert.deepEqual(named(writer.id), [writer.id]);
    for (const wrong of [end.id, inside.id, 'gone', 7, null]) assert.deepEqual(named(wrong), [other.id], String(wrong));
  });

  it('is found in a large drawing in no time, or not at all', () => {
    const nodes = [trigger(), ...Array.from({ length: 3_000 }, () => condition('1', '==', '1')), llm('last')];
    for (const [index, to] of nodes.entries()) if (index > 0) link(nodes[index - 1]!, to, 'true');
    const [before, last] = [nodes.at(-2)!, nodes.at(-1)!];
    const tookMs = cpuMilliseconds(() => {
      assert.deepEqual(answering(drawing(nodes)), [last.id]);
      link(before, last, 'false');
      for (const each of nodes.slice(1, -2)) link(each, last, 'false');
      assert.deepEqual(answering(drawing(nodes)), []);
    });
    assert.ok(tookMs < 2_000, `${tookMs} ms`);
  });
});
