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
    assert.deepEqual(choicesOf('{{ a.result.content }}', 'one\n two'), [
      { label: 'JSON', text: '{{ a.result.content }}', value: 'one two' },
    ]);
    assert.equal(choicesOf('{{ a.result.content }}', 'x'.repeat(500))[0]!.value!.length, 81);
    assert.deepEqual(choicesOf('{{ a.result.content }}', undefined), [
      { label: 'JSON', text: '{{ a.result.content }}' },
    ]);
  });

  it('are followed by their parts, of which each is a variable that reads it', () => {
    const value = { list: [{ 'a b': 1 }], name: 'Ada' };
    const choices = choicesOf('{{ n.result.json }}', value);
    assert.deepEqual(
      choices.map(({ label, text }) => [label, text]),
      [
        ['JSON', '{{ n.result.json }}'],
        ['JSON › list', '{{ n.result.json.list }}'],
        ['JSON › list › 0', '{{ n.result.json.list[0] }}'],
        ['JSON › list › 0 › a b', '{{ n.result.json.list[0]["a b"] }}'],
        ['JSON › name', '{{ n.result.json.name }}'],
      ],
    );
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, at]));
    assert.equal(choicesOf('{{ n.result.json }}', many).length, 13);
  });
});
