// The Node.js flags of a sandbox process, a second line of defence. Code runs inside QuickJS inside WebAssembly and can
// reach nothing that these flags restrict, unless it breaks out of both.
import { lstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';

const PACKAGES = [
  'quickjs-emscripten-core',
  '@jitl/quickjs-ng-wasmfile-release-sync',
  '@jitl/quickjs-ffi-types',
] as const;
/** The folder of the libraries that code may use, from the folder of the process. */
const LIBRARIES = '../../../../code-libraries';
/** The modules outside the folder of the process that the process loads to read JSON. */
const MODULES = ['exact-number.js', 'json.js', 'json-text.js'] as const;
/** The heap contains Node.js's own objects and the texts of one program. The memory of the code is in WebAssembly. */
const HEAP_MB = 128;

/**
 * `entry` is the main file of the process. The process may read the file's folder, its packages, the libraries of code
 * and `MODULES`, and no other file.
 */
export function processFlags(entry: string): string[] {
  // The option is called `--permission` since Node.js 22.13.
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const folder = path.dirname(entry);
  const folders = [folder, path.resolve(folder, LIBRARIES), ...packageFolders(entry)];
  const modules = MODULES.map((name) => path.resolve(folder, '../../../../graph', name));
  return [
    permission,
    ...folders.map((each) => `--allow-fs-read=${each}${path.sep}*`),
    ...[...modules, ...linksToPackages(entry)].map((file) => `--allow-fs-read=${file}`),
    // The process needs a thread that ends it together with the worker.
    '--allow-worker',
    '--disallow-code-generation-from-strings',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
  ];
}

function packageFolders(entry: string): string[] {
  const { resolve } = createRequire(entry);
  return PACKAGES.map((name) => {
    const file = resolve(name);
    return file.slice(0, file.lastIndexOf(path.join('node_modules', name)) + path.join('node_modules', name).length);
  });
}

/**
 * Returns the symbolic links on the way to the packages: `node_modules` itself, or packages as pnpm stores them.
 * Node.js may follow a link only if it may read the link.
 */
function linksToPackages(entry: string): string[] {
  const { resolve } = createRequire(entry);
  const places = PACKAGES.flatMap((name) =>
    (resolve.paths(name) ?? []).flatMap((folder) => [
      folder,
      path.dirname(path.join(folder, name)),
      path.join(folder, name),
    ]),
  );
  return [...new Set(places)].filter((place) => lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink());
}
