// Reads the built files of the console once. The process keeps serving the release that it started with, even if the
// folder changes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

type Encoding = 'br' | 'gzip' | 'identity';

export interface Asset {
  type: string;
  /** The bytes by content coding; `identity` is always present. */
  bodies: ReadonlyMap<Encoding, Buffer>;
}

export interface ConsoleFiles {
  isAddress: (path: string) => boolean;
  /** The page, with `%NONCE%` in place of the nonce of the answer. */
  page: string;
  /** The files by path. Their names contain a hash of their contents. */
  assets: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.pfb': 'application/octet-stream',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
const ENDINGS: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
];

/** Returns undefined if the console is not built. */
export function readConsoleFiles(folder: string): ConsoleFiles | undefined {
  const list = path.join(folder, 'addresses.json');
  if (!existsSync(list)) return undefined;
  const addresses = JSON.parse(readFileSync(list, 'utf8')) as string[];
  const patterns = addresses.map(toPattern);
  return {
    isAddress: (at) => patterns.some((pattern) => pattern.test(at)),
    page: readFileSync(path.join(folder, 'index.html'), 'utf8'),
    assets: readAssets(path.join(folder, 'assets')),
  };
}

/** Returns a pattern in which each `:name` stands for one segment. A slash at the end is optional. */
function toPattern(address: string): RegExp {
  const segments = address.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : segment));
  return new RegExp(`^${segments.join('/').replace(/\/$/, '')}/?$`);
}

function readAssets(folder: string): Map<string, Asset> {
  const names = new Set(readdirSync(folder));
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const present = ENDINGS.filter(([, ending]) => names.has(`${name}${ending}`));
    const bodies = present.map(
      ([coding, ending]) => [coding, readFileSync(path.join(folder, `${name}${ending}`))] as const,
    );
    assets.set(`/assets/${name}`, { type, bodies: new Map(bodies) });
  }
  return assets;
}
