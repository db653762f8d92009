import assert from 'node:assert/strict';
import { z } from 'zod';
import { parseFields } from '../../../api/http/field-errors.js';

describe('the sentences of wrong fields', () => {
  const cases: [title: string, schema: z.ZodType, value: unknown, sentence: string][] = [
    ['an array that is too short', z.array(z.int()).min(2), [1], 'Ensure this field has at least 2 elements.'],
    ['a number that is too small', z.int().min(2), 1, 'Ensure this value is greater than or equal to 2.'],
    ['a text that is too short', z.string().min(1), '', 'This field may not be blank.'],
  ];
  for (const [title, schema, value, sentence] of cases) {
    it(`name ${title}`, () => {
      assert.throws(() => parseFields(z.object({ field: schema }), { field: value }), {
        fields: { field: [sentence] },
      });
    });
  }
});
