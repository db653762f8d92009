// Compiles the sources to dist/, bundles the console to dist/console, the libraries of code nodes to
// dist/code-libraries and the run workflow to dist/ (BUNDLES). Silent unless it fails. Does nothing if no source has
// changed since the last build; with `--if-missing`, does nothing if there is any build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { bundleCodeLibraries } from './code-libraries.mjs';
import { withLock } from './lock.mjs';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const stamp = path.join(dist, '.built-from');
/** Sources other than TypeScript, which are served or executed by the database. */
const ASSETS = [
  'api/http/docs-page',
  'api/services/catalogue',
  'api/sessions/common-passwords',
  'db/migrations/0001-baseline',
  'db/routines',
];
/**
 * With TEMPORAL_PAYLOAD_KEY failures are encoded differently, and the bundle contains that code
 * (docs/operate/security.md).
 */
const BUNDLES = {
  'workflow-bundle.js': {},
  'workflow-bundle-encrypting.js': {
    failureConverterPath: path.join(dist, 'temporal-workflows', 'encoded-failures.js'),
  },
};
const tsconfig = path.join(root, 'tsconfig.build.json');
/** The sources of the console. */
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
    await bundleCodeLibraries(path.join(staging, 'code-libraries'));
    for (const folder of ASSETS) cpSync(path.join(root, folder), path.join(staging, folder), { recursive: true });
    // Remove the stamp first, because dist/ is incomplete until the workflows are bundled.
    rmSync(stamp, { force: true });
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

/** Hashes contents, not times, so that a fresh checkout of the same sources needs no second build. */
function sourcesHash() {
  const { include } = JSON.parse(readFileSync(tsconfig, 'utf8'));
  const sources = [...include, ...CONSOLE].flatMap((folder) => listFiles(path.join(root, folder)));
  const settings = [
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/code-libraries.mjs',
  ];
  const hash = createHash('sha256').update(process.version);
  for (const file of [...sources, ...settings.map((name) => path.join(root, name))]) {
    hash.update(`\0${path.relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Returns false, with the compiler's errors on standard error, if the sources do not compile. */
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
  // Compress once here instead of for each request.
  for (const file of listFiles(path.join(outDir, 'assets'))) {
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** Replaces each file by a rename, so that processes that start from dist/ meanwhile find every file. */
function publish(staging) {
  const fresh = listFiles(staging).map((file) => path.relative(staging, file));
  for (const file of fresh) {
    mkdirSync(path.dirname(path.join(dist, file)), { recursive: true });
    renameSync(path.join(staging, file), path.join(dist, file));
  }
  const current = new Set([...fresh, ...Object.keys(BUNDLES)]);
  for (const file of listFiles(dist)) if (!current.has(path.relative(dist, file))) rmSync(file);
}

async function bundleWorkflows() {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = path.join(dist, 'temporal-workflows', 'index.js');
  const interceptorsPath = path.join(dist, 'temporal-workflows', 'interceptors.js');
  for (const [name, options] of Object.entries(BUNDLES)) {
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      // Evaluated once per thread instead of once per run: no module of the bundle keeps state of a run (ADR 14).
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

/** Skips names that start with a dot (stamp, lock, staging): these are the build's own files. */
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
