import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { hashPassword, verifyPassword } from '../../../api/sessions/password-hash.js';
import { passwordProblem } from '../../../api/sessions/password-rules.js';

describe('password hashes', function () {
  this.timeout(120_000);

  it('are salted, verify their password and no other', async () => {
    const [one, two] = [await hashPassword('correct horse'), await hashPassword('correct horse')];
    assert.notEqual(one, two);
    assert.equal(await verifyPassword('correct horse', one), true);
    for (const wrong of ['correct hors', 'correct horse ', 'Correct horse', '']) {
      assert.equal(await verifyPassword(wrong, one), false, wrong);
    }
  });

  it('of other parameters are verified by these, because they are stored with the hash', async () => {
    const salt = Buffer.from('0123456789abcdef');
    const hash = scryptSync('correct horse', salt, 32, { N: 1024, r: 4, p: 1 });
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$scrypt$ln=10,r=4,p=1$${text(salt)}$${text(hash)}`;
    assert.equal(await verifyPassword('correct horse', stored), true);
    assert.equal(await verifyPassword('correct house', stored), false);
  });

  it('verify a letter however a system types it', async () => {
    const stored = await hashPassword('caf\u00e9 society');
    assert.equal(await verifyPassword('cafe\u0301 society', stored), true);
  });

  it('that are missing verify no password, and one that is malformed is an error', async () => {
    assert.equal(await verifyPassword('correct horse', undefined), false);
    await assert.rejects(verifyPassword('x', 'plain text'), /no hash/);
  });

  it('a new password is long enough, not too long, and more than white space', () => {
    for (const good of ['correct horse', '🐎'.repeat(12), 'x'.repeat(1024)]) {
      assert.equal(passwordProblem(good), undefined, good);
    }
    for (const bad of ['', 'elevenchars', '🐎'.repeat(11), ' '.repeat(20), 'x'.repeat(1025)]) {
      assert.match(passwordProblem(bad) ?? '', /^A password .*\.$/, bad);
    }
  });

  it('a new password is none of the common ones, in any case and however a system types its letters', () => {
    for (const bad of ['qwerty123456', 'QWERTY123456', 'Password1234', 'ｑｗｅｒｔｙ１２３４５６', '###INT_made###']) {
      assert.match(passwordProblem(bad) ?? '', /most common/, bad);
    }
  });
});
