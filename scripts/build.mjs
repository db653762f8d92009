// Compiles the sources to dist/, bundles the console to dist/console and the run workflow to dist/ (BUNDLES). Silent unless
// it fails. It does nothing when no source has changed since the last build; `--if-missing` does nothing when there is any
// build at all.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { withLock } from './lock.mjs';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const stamp = path.join(dist, '.built-from');
/** Sources that are no TypeScript: they are served, or executed by the database. */
const ASSETS = ['api/http/docs-page', 'api/sessions/common-passwords', 'db/migrations/0001-baseline', 'db/routines'];
/** With TEMPORAL_PAYLOAD_KEY failures are written in another way, and that is part of the bundle (docs/operate/security.md). */
const BUNDLES = {
  'workflow-bundle.js': {},
  'workflow-bundle-encrypting.js': {
    failureConverterPath: path.join(dist, 'temporal-workflows', 'encoded-failures.js'),
  },
};
const tsconfig = path.join(root, 'tsconfig.build.json');
/** What the console is made of. */
const CONSOLE = ['console', 'clients/typescript/src'];

if (!(process.argv.includes('--if-missing') && existsSync(stamp))) {
  mkdirSync(dist, { recursive: true });
  if (!isUpToDate()) await withLock(path.join(dist, '.lock'), build);
}

async function build() {
  if (isUpToDate()) return; // another process built while this one waited for the lock
  const builtFrom = sourcesHash();
  const staging = path.join(dist, `.staging-${process.pid}`);
  try {
    if (!compile(staging)) {
      process.exitCode = 1;
      return;
    }
    await bundleConsole(path.join(staging, 'console'));
    for (const folder of ASSETS) cpSync(path.join(root, folder), path.join(staging, folder), { recursive: true });
    publish(staging);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  await bundleWorkflows();
  writeFileSync(stamp, builtFrom);
}

function isUpToDate() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourcesHash();
}

/** Contents, not times: a fresh checkout of the same sources needs no second build. */
function sourcesHash() {
  const { include } = JSON.parse(readFileSync(tsconfig, 'utf8'));
  const sources = [...include, ...CONSOLE].flatMap((folder) => listFiles(path.join(root, folder)));
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'scripts/build.mjs'];
  const hash = createHash('sha256').update(process.version);
  for (const file of [...sources, ...settings.map((name) => path.join(root, name))]) {
    hash.update(`\0${path.relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** False, with the compiler's errors on standard error, when the sources do not compile. */
function compile(outDir) {
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [tsc, '--project', tsconfig, '--outDir', outDir, '--sourceRoot', root],
    { cwd: root, encoding: 'utf8' },
  );
  if (status !== 0) process.stderr.write(`${stdout}${stderr}`);
  return status === 0;
}

async function bundleConsole(outDir) {
  const { build: bundle } = await import('vite');
  await bundle({ configFile: path.join(root, 'console', 'vite.config.ts'), build: { outDir } });
  // Compressed once here instead of at each request.
  for (const file of listFiles(path.join(outDir, 'assets'))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** File by file, each by one rename: processes that start from dist/ meanwhile never find it missing. */
function publish(staging) {
  const fresh = listFiles(staging).map((file) => path.relative(staging, file));
  for (const file of fresh) {
    mkdirSync(path.dirname(path.join(dist, file)), { recursive: true });
    renameSync(path.join(staging, file), path.join(dist, file));
  }
  const kept = new Set([...fresh, ...Object.keys(BUNDLES)]);
  for (const file of listFiles(dist)) if (!kept.has(path.relative(dist, file))) rmSync(file);
}

async function bundleWorkflows() {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = path.join(dist, 'temporal-workflows', 'index.js');
  const interceptorsPath = path.join(dist, 'temporal-workflows', 'interceptors.js');
  for (const [name, options] of Object.entries(BUNDLES)) {
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      // Evaluated once a thread instead of once a run: no module of it keeps anything of a run (ADR 14).
      preloadModules: [workflowsPath, interceptorsPath, options.failureConverterPath].filter(Boolean),
      workflowInterceptorModules: [interceptorsPath],
      logger: new DefaultLogger('WARN'),
      ...options,
    });
    const target = path.join(dist, name);
    writeFileSync(`${target}.${process.pid}.tmp`, code);
    renameSync(`${target}.${process.pid}.tmp`, target);
  }
}

/** Names that start with a dot (stamp, lock, staging) are the build's own. */
function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .filter((entry) => !entry.name.startsWith('.'))
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? listFiles(file) : [file];
    });
}
