import assert from 'node:assert/strict';
import { emptyFiles } from '../../graph/emptied-files.js';

describe('a copy of a drawing in another project', () => {
  const file = { file_id: '5f0c7a52-3a86-4a8e-9f1d-0d9d3c1b6a11', sha256: 'ab' };
  const messagesOf = (value: object): string[] =>
    emptyFiles({ nodes: [{ id: 'a', data: { files: [value] } }] }).emptied.map(({ message }) => message);

  it('asks for another file in place of each, with its name or without', () => {
    assert.deepEqual(messagesOf({ ...file, name: 'a.png' }), [
      'Choose a file in place of "a.png", which stays in its project.',
    ]);
    assert.deepEqual(messagesOf(file), ['Choose a file in place of the one here, which stays in its project.']);
  });
});
