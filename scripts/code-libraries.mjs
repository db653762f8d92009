// The libraries that code nodes may use (docs/use/code.md): each becomes one file that defines a variable of its name.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');

/** The module of each library, by the name of its variable. */
const LIBRARIES = {
  cheerio: "export { load } from 'cheerio';",
  htmlToMarkdown:
    "import { NodeHtmlMarkdown } from 'node-html-markdown'; export const { translate } = NodeHtmlMarkdown;",
  htmlToText: "export { convert } from 'html-to-text';",
  luxon: "export * from 'luxon';",
  Papa: "export { parse, unparse } from 'papaparse';",
  showdown: "export { Converter } from 'showdown';",
  xlsx: "export { read, utils, write } from '@e965/xlsx';",
  xml2js: "export { Builder, Parser } from 'xml2js';",
};

/** Stand-ins for modules of Node.js that some libraries import. To process texts, they need only `EventEmitter`. */
const STANDS_FOR = {
  events: `
    class EventEmitter {
      on(name, listener) { ((this.listeners_ ??= {})[name] ??= []).push(listener); return this; }
      once(name, listener) { return this.on(name, listener); }
      removeAllListeners() { this.listeners_ = {}; return this; }
      listeners(name) { return this.listeners_?.[name] ?? []; }
      emit(name, ...values) {
        const listeners = [...this.listeners(name)];
        if (listeners.length === 0 && name === 'error') throw values[0];
        for (const listener of listeners) listener.apply(this, values);
        return listeners.length > 0;
      }
    }
    module.exports = Object.assign(EventEmitter, { EventEmitter });`,
  stream: 'module.exports = {};',
  string_decoder: 'module.exports = {};',
  timers: 'module.exports = { setImmediate: undefined };',
};

const standIns = {
  name: 'stand-ins',
  setup(bundle) {
    const filter = new RegExp(`^(?:node:)?(?:${Object.keys(STANDS_FOR).join('|')})$`);
    bundle.onResolve({ filter }, ({ path: name }) => ({ path: name.replace('node:', ''), namespace: 'stand-in' }));
    bundle.onLoad({ filter: /.*/, namespace: 'stand-in' }, ({ path: name }) => ({ contents: STANDS_FOR[name] }));
  },
};

/** Showdown reads matches from `RegExp.$1`, which QuickJS does not have. */
const ownMatches = {
  name: 'own-matches',
  setup(bundle) {
    bundle.onLoad({ filter: /showdown\.js$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const kept = source.replaceAll(/while \((\/¨.+\/)\.test\((\w+)\)\)/g, 'while ((lastMatch = $1.exec($2)))');
      return { contents: `var lastMatch;\n${kept.replaceAll(/RegExp\.\$(\d)/g, 'lastMatch[$1]')}` };
    });
  },
};

/**
 * Globals of browsers or of Node.js that some libraries expect. They are defined inside the function that the sandbox
 * puts around each library.
 */
const SURROUNDINGS = `
var Buffer = { isBuffer: () => false }, process = { env: {} };
var atob = (text) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let made = '', bits = 0, held = 0;
  for (const letter of text.replace(/=+$/, '')) {
    held = (held << 6) | letters.indexOf(letter);
    bits += 6;
    if (bits >= 8) made += String.fromCharCode((held >> (bits -= 8)) & 255);
  }
  return made;
};`;

/** Writes the files to `folder`. */
export async function bundleCodeLibraries(folder) {
  await Promise.all(
    Object.entries(LIBRARIES).map(([name, contents]) =>
      build({
        stdin: { contents, resolveDir: root },
        outfile: path.join(folder, `${name}.js`),
        bundle: true,
        minify: true,
        format: 'iife',
        globalName: name,
        platform: 'browser',
        target: 'es2023',
        // The library for spreadsheets takes another code path if there is a Buffer.
        banner: { js: name === 'xlsx' ? '' : SURROUNDINGS },
        logLevel: 'warning',
        plugins: [standIns, ownMatches],
      }),
    ),
  );
}
