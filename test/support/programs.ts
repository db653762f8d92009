// Programs that a machine may lack, because the service does not need them.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * Skips the test if one of the programs is missing: mocha shows it as pending, and standard error has a line about it.
 * With REQUIRE_PROGRAMS=1 the test fails instead.
 */
export function needPrograms(test: Mocha.Context, ...names: string[]): void {
  const missing = names.filter((name) => !isOnPath(name));
  if (missing.length === 0) return;
  const line = `NOT RUN, for this machine has no ${missing.join(' and no ')}: ${test.test?.fullTitle() ?? ''}`;
  if (process.env['REQUIRE_PROGRAMS'] === '1') throw new Error(line);
  process.stderr.write(`${line}\n`);
  test.skip();
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
