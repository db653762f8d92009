import { itRuns } from './run-documents.js';

describe('the documents for operators', function () {
  this.timeout(400_000);
  itRuns([
    'docs/operate/database.md',
    'docs/operate/hosts.md',
    'docs/operate/roll-back.md',
    'docs/operate/move-temporal.md',
    'docs/operate/rotate-secrets.md',
    'docs/operate/stuck-runs.md',
  ]);
});
