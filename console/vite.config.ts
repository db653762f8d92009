// Build of the console: `npm run build` writes to dist/console, `npm run console` serves it during development.
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { ADDRESSES } from './service/addresses.js';

const root = import.meta.dirname;
/** The default address of `npm start`. */
const API_URL = process.env['API_URL'] ?? 'http://127.0.0.1:3000';

/** Addresses for which the API serves the page (api/console/). */
const addresses: Plugin = {
  name: 'addresses',
  generateBundle() {
    const source = JSON.stringify(Object.values(ADDRESSES));
    this.emitFile({ type: 'asset', fileName: 'addresses.json', source });
  },
};

export default defineConfig({
  root,
  base: '/',
  plugins: [react(), addresses],
  build: {
    outDir: path.join(root, '../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // The manifest lists the imports of each chunk, from which the size of the first page is measured.
    manifest: 'manifest.json',
    // The page's policy forbids inline scripts, and separate files are cached by browsers for good.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': API_URL, '/docs': API_URL, '/v1': API_URL, '/mcp': API_URL } },
  logLevel: 'warn',
});
