import assert from 'node:assert/strict';
import { toProblemWords } from '../../../console/forms/problem-words.js';
import { toFieldWords } from '../../../console/ui/field-words.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';

describe('messages about fields', () => {
  const cases: [message: string, words: string, field?: { title: string; isChosen?: boolean }][] = [
    ['Field required', 'Fill this in.'],
    ['This field may not be blank.', 'Fill this in.'],
    ['String should have at least 1 character', 'Enter an address.', { title: 'URL' }],
    ['Field required', 'Enter the server label.', { title: 'Server label' }],
    ['Field required', 'Choose the model.', { title: 'Model', isChosen: true }],
    ['Field required', 'Enter the ID.', { title: 'ID' }],
    ['Field required', 'Enter the constructor.', { title: 'constructor' }],
    ['List should have at least 1 item after validation, not 0', 'Add at least one.'],
    ['List should have at most 10 items after validation, not 11', 'There must be at most 10.'],
    ['Ensure this field has no more than 255 characters.', 'Enter at most 255 characters.'],
    ['Input should be greater than or equal to 1', 'Enter 1 or more.'],
    ['Input should be a valid http or https URL', 'Enter an address that begins with http:// or https://.'],
    ['Input should be a valid integer', 'Enter a whole number.'],
    ['A valid number is required.', 'Enter a number.'],
    ["Input should be another id than 'one'", 'Another one has the ID one. Enter another ID.'],
    ["Input should be 'GET', 'HEAD' or 'POST'", 'Choose GET, HEAD or POST.'],
    ['Input should be a number of seconds from 0 to 10', 'Enter a number of seconds from 0 to 10.'],
    ['topic: Field required', 'topic: Fill this in.'],
    ['The file does not exist.', 'The file does not exist.'],
  ];
  for (const [message, words, field] of cases) {
    it(`say “${words}” for “${message}”`, () => assert.equal(toFieldWords(message, field), words));
  }
});

describe('problems of fields', () => {
  const words = (type: string, path: string, message: string): string =>
    toProblemWords(describeNodes().find((kind) => kind.type === type)!.schema, path, message);
  const EMPTY = 'String should have at least 1 character';

  it('name the field by its title, and how it is filled in', () => {
    assert.equal(words('http-node', 'url', EMPTY), 'Enter an address.');
    assert.equal(words('agent-node', 'settings.model_name', EMPTY), 'Choose the model.');
    assert.equal(words('agent-node', 'messages.0.message', EMPTY), 'Enter the message.');
    assert.equal(words('agent-node', 'tools.0.server_label', EMPTY), 'Enter the server label.');
    assert.equal(words('if-else-node', 'condition.all.0.any.1.right', 'Field required'), 'Fill in the right side.');
    assert.equal(words('wait-node', 'seconds', 'Field required'), 'Enter how long it waits.');
    assert.equal(words('workflow-node', 'workflow_id', 'Field required'), 'Choose the workflow.');
    assert.equal(words('http-node', '', 'The node has no link.'), 'The node has no link.');
  });
});
