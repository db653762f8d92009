import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSecretBox } from '../../../db/core/secret-box.js';

describe('secret box', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const box = createSecretBox([first]);
  const RUN = '5a1f0c6e-0d3b-4f7e-9c52-1f6d0e8b7a94';
  const OTHER = '5a1f0c6e-0d3b-4f7e-9c52-1f6d0e8b7a95';

  it('opens what it sealed, and never seals the same way twice', () => {
    const sealed = box.seal('hunter2 🔑', 'run-input', 1, RUN);
    assert.equal(box.open(sealed, 'run-input', 1, RUN), 'hunter2 🔑');
    assert.equal(sealed.includes('hunter2'), false);
    assert.notDeepEqual(sealed, box.seal('hunter2 🔑', 'run-input', 1, RUN));
  });

  it('does not open a value in the place of another kind', () => {
    assert.throws(() => box.open(box.seal('x', 'run-input', 1, RUN), 'run-secrets', 1, RUN));
  });

  it('does not open a value in another row or another project, nor where the parts of a key are told apart otherwise', () => {
    const input = box.seal('x', 'run-input', 1, RUN);
    assert.throws(() => box.open(input, 'run-input', 2, RUN));
    assert.throws(() => box.open(input, 'run-input', 1, OTHER));
    const result = box.seal('x', 'node-result', RUN, 'loop[0]', 'a');
    for (const [path, nodeId] of [
      ['loop[1]', 'a'],
      ['loop[0]', 'b'],
      ['', 'loop[0]a'],
      ['loop[0]a', ''],
      ['loop[0]","a', ''],
    ] as const) {
      assert.throws(() => box.open(result, 'node-result', RUN, path, nodeId), `${path} ${nodeId}`);
    }
    assert.equal(box.open(result, 'node-result', RUN.toUpperCase(), 'loop[0]', 'a'), 'x', 'the same row');
  });

  it('notices every changed byte', () => {
    const sealed = box.seal('hunter2', 'run-input', 1, RUN);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      assert.throws(() => box.open(changed, 'run-input', 1, RUN), `byte ${at}`);
    }
    assert.throws(() => box.open(Buffer.alloc(0), 'run-input', 1, RUN));
  });

  it('opens old values after a new key was put in front, and seals with the new one', () => {
    const old = box.seal('x', 'run-input', 1, RUN);
    const rotated = createSecretBox([second, first]);
    assert.equal(rotated.open(old, 'run-input', 1, RUN), 'x');
    assert.throws(
      () => box.open(rotated.seal('y', 'run-input', 1, RUN), 'run-input', 1, RUN),
      /^MissingKeyError: SECRETS_KEY: the key [0-9a-f]{8}, /,
    );
  });
});
