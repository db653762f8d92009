// The newest LTS line of Node.js, for the images and for the quick tests (test-newest-node.mjs). npm installs the
// program from an npm package, so that the user's registry settings apply. It is stored in the user's cache directory,
// because it is large and most installations do not need it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** The Dockerfile must name the same version. */
export const NEWEST_NODE = '26.10.0';
const PACKAGE = `node-${process.platform}-${process.arch}`;

/** Returns the path of the program. Throws if npm cannot install it, offline or without a build for this machine. */
export function fetchNewestNode() {
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'workflow-automation');
  const folder = path.join(cache, `node-${NEWEST_NODE}`);
  const program = path.join(folder, 'node_modules', PACKAGE, 'bin/node');
  if (existsSync(program)) return program;
  process.stderr.write(`Installing Node.js ${NEWEST_NODE} into ${cache}, once\n`);
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', '--prefix', unfinished, ...options, `${PACKAGE}@${NEWEST_NODE}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}
