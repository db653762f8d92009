import assert from 'node:assert/strict';
import { z } from 'zod';
import type { ApiError } from '../../../api/http/errors.js';
import { parseFields } from '../../../api/http/field-errors.js';
import { passwordField, passwordProblem } from '../../../api/sessions/password-rules.js';

describe('the password of a login', () => {
  const enter = (password: unknown): unknown => parseFields(z.object({ password: passwordField }), { password });

  it('may be every password that can be set, in characters as users count them', () => {
    for (const password of ['🐎'.repeat(600), '🐎'.repeat(1024), 'x'.repeat(1024)]) {
      assert.equal(passwordProblem(password), undefined);
      assert.deepEqual(enter(password), { password });
    }
  });

  it('is refused in the words of the other fields if it is empty or longer', () => {
    const other = z.object({ password: z.string().min(1).max(1024) });
    for (const password of ['', 'x'.repeat(1025), 1, undefined]) {
      const errorOf = (schema: z.ZodType): unknown => {
        try {
          return parseFields(schema, { password });
        } catch (error) {
          return (error as ApiError).fields;
        }
      };
      const errors = errorOf(z.object({ password: passwordField }));
      assert.ok(errors !== undefined);
      assert.deepEqual(errors, errorOf(other));
    }
    assert.throws(() => enter('🐎'.repeat(1025)), { status: 400 });
  });
});
