// A copy of the tree like a newcomer's after `npm ci`, which a document may change freely.
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** State and generated files. */
const LEFT_OUT = ['.git', '.data', 'node_modules', 'coverage', 'results'];

export function makeCheckout() {
  const folder = mkdtempSync(path.join(tmpdir(), 'docs-checkout-'));
  // If root runs this, PostgreSQL's account must be able to enter the folder.
  chmodSync(folder, 0o755);
  for (const name of readdirSync(ROOT)) {
    if (LEFT_OUT.includes(name)) continue;
    cpSync(path.join(ROOT, name), path.join(folder, name), {
      recursive: true,
      filter: (source) => !LEFT_OUT.includes(path.basename(source)),
    });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
