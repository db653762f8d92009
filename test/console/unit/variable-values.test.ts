import assert from 'node:assert/strict';
import { readPath, withValues } from '../../../console/pages/workflow/test-run/variable-values.js';

const choicesOf = (text: string, value: unknown) =>
  withValues([{ heading: 'Call', choices: [{ label: 'JSON', text }] }], () => value)[0]!.choices;

describe('the values in the variable picker', () => {
  it('are found by the path that the variable writes', () => {
    assert.deepEqual(readPath('{{ a.result.content }}'), ['a', 'result', 'content']);
    assert.deepEqual(readPath(`{{ a.result["b c"]['d"e'][0].f }}`), ['a', 'result', 'b c', 'd"e', '0', 'f']);
    assert.deepEqual(readPath('{{ 6f1-b.error.code }}'), ['6f1-b', 'error', 'code']);
  });

  it('are one line, cut, and none where nothing is known', () => {
    const value = (known: unknown) => choicesOf('{{ a.result.content }}', known)[0]!.value;
    assert.equal(value('one\n two'), 'one two');
    assert.equal(value('x'.repeat(500))!.length, 81);
    assert.equal(value(Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)))!.length, 81);
    assert.deepEqual(choicesOf('{{ a.result.content }}', undefined), [
      { label: 'JSON', text: '{{ a.result.content }}' },
    ]);
  });

  it('begin with what an answer holds as JSON, and give a text that is JSON its parts', () => {
    const known = { content: '{"id": 1, "status": "new"}', status: 200, json: undefined as unknown };
    const read = (path: readonly string[]): unknown =>
      path.slice(2).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], known);
    const choices = ['content', 'json'].map((key) => ({ label: key, text: `{{ a.result.${key} }}` }));
    const [content] = withValues([{ heading: 'Call', choices }], read)[0]!.choices;
    assert.deepEqual(content!.parts, { id: 1 }, 'a field of the result hides the one of its text');
    assert.equal(content!.root, 'a.result');
    known.json = { id: 1 };
    assert.deepEqual(
      withValues([{ heading: 'Call', choices }], read)[0]!.choices.map(({ label, parts }) => [label, parts]),
      [
        ['json', undefined],
        ['content', undefined],
      ],
    );
  });
});
