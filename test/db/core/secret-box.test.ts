import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSecretBox } from '../../../db/core/secret-box.js';

describe('secret box', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const box = createSecretBox([first]);

  it('opens what it sealed, and never seals the same way twice', () => {
    const sealed = box.seal('hunter2 🔑', 'run-input');
    assert.equal(box.open(sealed, 'run-input'), 'hunter2 🔑');
    assert.equal(sealed.includes('hunter2'), false);
    assert.notDeepEqual(sealed, box.seal('hunter2 🔑', 'run-input'));
  });

  it('does not open a value in the place of another kind', () => {
    assert.throws(() => box.open(box.seal('x', 'run-input'), 'node-result'));
  });

  it('notices every changed byte', () => {
    const sealed = box.seal('hunter2', 'run-input');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      assert.throws(() => box.open(changed, 'run-input'), `byte ${at}`);
    }
    assert.throws(() => box.open(Buffer.alloc(0), 'run-input'));
  });

  it('opens old values after a new key was put in front, and seals with the new one', () => {
    const old = box.seal('x', 'run-input');
    const rotated = createSecretBox([second, first]);
    assert.equal(rotated.open(old, 'run-input'), 'x');
    assert.throws(
      () => box.open(rotated.seal('y', 'run-input'), 'run-input'),
      /^MissingKeyError: SECRETS_KEY: the key [0-9a-f]{8}, /,
    );
  });
});
