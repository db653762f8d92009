import assert from 'node:assert/strict';
import path from 'node:path';
import { readHistoryFile } from '../../cli/replay/history-file.js';
import { replayHistories } from '../../cli/replay/replay-histories.js';
import { historyFiles } from '../replay/history-files.js';
const BUNDLE = path.resolve(import.meta.dirname, '../../dist/workflow-bundle.js');
describe('replay', function () {
  this.timeout(60_000);
  it('all', async () => {
    const problems = [];
    for await (const r of replayHistories(
      historyFiles().map(({ path: f }) => readHistoryFile(f)),
      { codePath: BUNDLE },
    )) {
      if (r.problem) problems.push(r);
    }
    assert.deepEqual(problems, []);
  });
});
