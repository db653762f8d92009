// Mocha's spec reporter, closed by one line that machines read: "N passed, N failed".
'use strict';

const mocha = require('mocha');

module.exports = class SpecWithTotals extends mocha.reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    // Written when the process ends, so that nothing that a late hook prints comes after it.
    process.once('exit', () => process.stdout.write(`${passes} passed, ${failures} failed\n`));
  }
};
