// Checks that the code records every action in the list of the audit log.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AUDIT_ACTIONS } from '../../../db/audit/subjects.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The code composes these names from the decision. */
const COMPOSED = ['approval.approved', 'approval.rejected'];

describe('the actions of the audit log', () => {
  it('are all recorded by something: a route, a command or the service itself', () => {
    const files = execFileSync('git', ['ls-files', 'api', 'cli', 'db', 'activities'], { cwd: ROOT, encoding: 'utf8' });
    const sources = files.split('\n').filter((file) => file.endsWith('.ts'));
    const code = sources.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
    assert.deepEqual(
      AUDIT_ACTIONS.filter((action) => !code.includes(`'${action}'`)),
      COMPOSED,
    );
  });
});
