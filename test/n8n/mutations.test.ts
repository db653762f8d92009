import assert from 'node:assert/strict';
import { readImport } from '../../api/workflows/import-body.js';
import { ApiError } from '../../api/http/errors.js';
import { parseJsonBody } from '../../api/http/json-body.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { isObject } from '../../graph/json.js';
import { mutatedFile } from './mutated-files.js';

/** The database stores no text with a zero byte or a lone surrogate. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const COUNT = Number(process.env['FUZZ_COUNT'] ?? 2_000);

describe('mutated files of n8n', function () {
  this.timeout(120_000);

  it('are refused with a sentence, or become a drawing without structural errors that can be stored', async () => {
    let [taken, refused] = [0, 0];
    for (let seed = 0; seed < COUNT; seed += 1) {
      const text = mutatedFile(seed);
      try {
        const body = parseJsonBody(text);
        if (!isObject(body)) continue;
        const { data } = await readImport(body);
        const compiled = compilePlan(data);
        const isN8n = Array.isArray(data['edges']) && isObject(data['viewport']);
        if (!isN8n) continue;
        taken += 1;
        assert.deepEqual(compiled.ok ? [] : compiled.errors, [], `seed ${seed}`);
        assert.doesNotMatch(JSON.stringify(data).replaceAll('\\u0000', '\0'), UNSTORABLE, `seed ${seed}`);
      } catch (error) {
        if (error instanceof ApiError && error.status === 400 && /^\S.*\.$/s.test(error.message)) {
          refused += 1;
          continue;
        }
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      }
    }
    assert.ok(taken > COUNT / 2, `${taken} files were taken`);
    assert.ok(refused > 0);
  });
});
