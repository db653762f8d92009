// Reads the files of the documentation page: Swagger UI from its package, our page, and the script that starts Swagger
// UI. The content security policy allows only files of our own origin, and images in `data:` addresses.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const OWN = path.join(import.meta.dirname, 'docs-page');
const LIBRARY = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const FOLDERS: Readonly<Record<string, string>> = {
  'page.html': OWN,
  'start.js': OWN,
  'swagger-ui.css': LIBRARY,
  'swagger-ui-bundle.js': LIBRARY,
  'favicon-32x32.png': LIBRARY,
};
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

/** Browsers fetch our own files anew every time, and a new release of the library within the hour. */
const CACHING = { [OWN]: 'no-cache', [LIBRARY]: 'public, max-age=3600' };

interface DocsFile {
  body: Buffer;
  headers: Record<string, string>;
}

const read = new Map<string, DocsFile>();

/** Returns undefined for a name that is not in the list. */
export function readDocsFile(name: string): DocsFile | undefined {
  const folder = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
  if (folder === undefined) return undefined;
  const known = read.get(name);
  if (known !== undefined) return known;
  const own = { 'Content-Type': TYPES[path.extname(name)] ?? '', 'Cache-Control': CACHING[folder] ?? '' };
  const file = { body: readFileSync(path.join(folder, name)), headers: { ...HEADERS, ...own } };
  read.set(name, file);
  return file;
}
