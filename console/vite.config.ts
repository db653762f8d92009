// The console's build: `npm run build` writes it to dist/console, `npm run console` serves it while one works on it.
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { ADDRESSES } from './service/addresses.js';

const root = import.meta.dirname;
/** `npm start` has its API here unless told otherwise. */
const API_URL = process.env['API_URL'] ?? 'http://127.0.0.1:3000';

/** The addresses for which the API answers the page (api/console/). */
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
    // The manifest says which chunk imports which. The size of the first page is measured from it.
    manifest: 'manifest.json',
    // The policy forbids inline scripts, and browsers keep each file for good.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': API_URL, '/docs': API_URL, '/v1': API_URL, '/mcp': API_URL } },
  logLevel: 'warn',
});
