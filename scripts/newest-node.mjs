// The newest LTS line of Node.js: the images start from it, and the quick tests run on it (test-newest-node.mjs). Its
// program comes from an npm package, by npm itself, so that the user's own registry settings hold; it is kept in the user's
// cache directory, since it is too large for an installation that most people do not need it in.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** The Dockerfile names this version, too. */
export const NEWEST_NODE = '26.10.0';
const PACKAGE = `node-${process.platform}-${process.arch}`;

/** Path of the program. Throws where npm cannot install it: the machine is offline, or there is no build for it. */
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
