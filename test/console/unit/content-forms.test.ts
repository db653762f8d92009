import assert from 'node:assert/strict';
import { formsOf, isSearched } from '../../../console/parts/node-result/content-forms.js';

describe('the forms of a text', () => {
  it('are a tree for JSON, a table for a list of objects, and otherwise what wrote the text decides', () => {
    const usual = (text: string, isAnswer = false) => formsOf(text, isAnswer).usual;
    assert.equal(usual('{"a": [{"b": 1}]}'), 'json');
    assert.equal(usual('[{"a": 1}]'), 'table');
    assert.equal(usual('[1]'), 'json');
    assert.equal(usual('[1]', true), 'json');
    assert.equal(usual('[1] A source', true), 'markdown');
    assert.equal(usual('[1] A source'), 'text');
  });

  it('have a search field only while a tree with entries is shown', () => {
    const atFirst = (text: string) => isSearched(formsOf(text, true), formsOf(text, true).usual);
    assert.equal(atFirst(' {"a": 1}'), true);
    assert.equal(atFirst('[1, 2]'), true);
    for (const text of ['[1] A source', '[Title](https://a.example)', '[{"a": 1}]', '[]', '{}', '{"a"', '']) {
      assert.equal(atFirst(text), false, text);
    }
    const forms = formsOf('[{"a": 1}]', false);
    assert.equal(isSearched(forms, 'json'), true);
    assert.equal(isSearched(formsOf('{"a": 1}', false), 'text'), false);
  });
});
