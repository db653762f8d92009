// The files of the documentation page: our own, without any network, and closed to everything else by their policy.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.join(import.meta.dirname, 'docs-page');
const TYPES: Partial<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};
const FILES = ['page.html', 'page.css', 'page.js', 'dom.js', 'operation-view.js', 'schema-text.js', 'try-it.js'];

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

interface DocsFile {
  body: string;
  headers: Record<string, string>;
}

const read = new Map<string, DocsFile>();

/** Undefined for a name that is not in the list. */
export function readDocsFile(name: string): DocsFile | undefined {
  const type = TYPES[path.extname(name).slice(1)];
  if (type === undefined || !FILES.includes(name)) return undefined;
  const known = read.get(name);
  if (known !== undefined) return known;
  const body = readFileSync(path.join(FOLDER, name), 'utf8');
  const file = { body, headers: { ...HEADERS, 'Content-Type': type } };
  read.set(name, file);
  return file;
}
