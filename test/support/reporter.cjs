// Mocha's spec reporter, closed by one line that machines read: "N passed, N failed". With the reporter option
// `totals=FILE` the numbers go to that file instead, for scripts/test.mjs to add up.
'use strict';

const { writeFileSync } = require('node:fs');
const mocha = require('mocha');

module.exports = class SpecWithTotals extends mocha.reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures } = this.stats;
    const file = this.options.reporterOptions?.totals;
    if (file !== undefined) {
      writeFileSync(file, JSON.stringify({ passes, failures }));
      return;
    }
    // Written when the process ends, so that nothing that a late hook prints comes after it.
    process.once('exit', () => process.stdout.write(`${passes} passed, ${failures} failed\n`));
  }
};
