import { itRuns } from './run-documents.js';

describe('the documents for users', function () {
  this.timeout(400_000);
  itRuns([
    'docs/use/node-examples.md',
    'docs/use/sign-in.md',
    'docs/use/approvers.md',
    'docs/use/live.md',
    'docs/use/resume.md',
    'docs/use/starts.md',
    'docs/use/mcp.md',
    'docs/use/assistants.md',
    'docs/use/spending.md',
    'docs/use/test-runs.md',
    'docs/use/files.md',
    'docs/use/conversations.md',
    'docs/use/connections.md',
    'docs/use/services.md',
    'docs/use/porting.md',
    'docs/operate/pools.md',
    'examples/python/README.md',
  ]);
});
