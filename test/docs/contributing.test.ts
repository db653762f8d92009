import { itRuns } from './run-documents.js';

describe('the document for contributors', function () {
  this.timeout(400_000);
  itRuns(['CONTRIBUTING.md']);
});
