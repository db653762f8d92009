// A copy of the tree as a newcomer has it after `npm ci`, in which a document may change whatever it wants.
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** State, and what is made anew. */
const LEFT_OUT = ['.git', '.data', 'node_modules', 'coverage', 'results'];

export function makeCheckout() {
  const folder = mkdtempSync(path.join(tmpdir(), 'docs-checkout-'));
  // PostgreSQL's account must be able to enter it when this runs as root.
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
