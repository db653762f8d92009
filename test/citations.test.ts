// Checks that everything that comments and documents cite exists: files and folders of this repository, headings of
// documents, and decisions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Texts that look like paths, but are not paths of the repository. */
const ELSEWHERE: [pattern: RegExp, reason: string][] = [
  [/^(?:dist|coverage|\.data|DATA_DIR|node_modules)\//, 'A build, a start or an installation makes it.'],
  [/^secrets\/$/, 'The operator makes it, beside `docker-compose.yml`.'],
  [/^MORE\.md$/, 'It stands for any page in the usage of `scripts/run-docs.mjs`.'],
  [/^db\/x\.ts$/, 'It is an example of a place in a stack trace.'],
];

const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));

interface Part {
  line: number;
  text: string;
  /** True for a line of a code block, which may also name files that the reader creates. */
  isCode?: boolean;
}

const SLASHES = /^(?<code>.*?)\/\/ ?(?<text>.*)$/;
const HASH = /^(?<code>.*?)# ?(?<text>.*)$/;

/** Returns the comments of a source. Consecutive lines of comments are one text. */
function commentsOf(file: string, text: string): Part[] {
  const style = /\.(?:tsx?|mjs|js|css)$/.test(file) ? SLASHES : HASH;
  const parts: Part[] = [];
  let open: { part: Part; isBlock: boolean } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (open?.isBlock === true) {
      open.part.text += ` ${line.replace(/\*\/.*/, '').replace(/^\s*\* ?/, '')}`;
      if (line.includes('*/')) open = undefined;
      continue;
    }
    const block = style === SLASHES ? /^\s*\{?\/\*\*?(.*)$/.exec(line) : null;
    const { code = '', text: said } = style.exec(line)?.groups ?? {};
    if (block !== null) {
      const part = { line: index + 1, text: block[1]!.replace(/\*\/.*/, '') };
      parts.push(part);
      open = line.includes('*/') ? undefined : { part, isBlock: true };
    } else if (said === undefined || !endsOutsideOfTexts(code)) open = undefined;
    else if (open !== undefined && code.trim() === '') open.part.text += ` ${said}`;
    else {
      const part = { line: index + 1, text: said };
      parts.push(part);
      open = code.trim() === '' ? { part, isBlock: false } : undefined;
    }
  }
  return parts;
}

/**
 * Returns true if a comment may start after this code: it is blank, or ends in a blank and all its quotes are closed.
 */
function endsOutsideOfTexts(code: string): boolean {
  const isClosed = ['"', "'", '`'].every((quote) => code.split(quote).length % 2 === 1);
  return code.trim() === '' || (/\s$/.test(code) && isClosed);
}

/** Returns the lines of a document. */
function linesOf(text: string): Part[] {
  const parts: Part[] = [];
  let isCode = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else parts.push({ line: index + 1, text: line, isCode });
  }
  return parts;
}

const FILE =
  /(?<![\w/.@:~$*<>{}=-])(?:\.{1,2}\/)*(?:[\w.*@-]+\/)+[\w.*-]+\.(?:tsx?|md|mjs|sql|ya?ml|json|sh|css|tsv|py)\b(?![\w(])/g;
const FOLDER = /`((?:[\w.-]+\/)+)`/g;
const BARE_FOLDER = /(?<![\w/.@:~$*<>{}=`'"-])(?:[\w-]+\/){2,}(?![\w*])/g;
const NAME = /(?<![\w/.@:~$*<>{}=-])[\w-]+(?:\.[\w-]+)*\.(?:tsx?|md|mjs|sql)\b(?![\w(/])/g;

/** The addresses of the service, such as `/api/v1/workflows/{id}/pins/`. */
const addresses = readFileSync(path.join(ROOT, 'clients/typescript/src/openapi.ts'), 'utf8').match(
  /"\/\S+\/"(?=: \{)/g,
)!;

/** Returns true for a part of an address, which looks like a folder. */
function isAddress(cited: string): boolean {
  const part = cited.replace(/^(?:\.\.\.|PUBLIC_URL)\//, '');
  return addresses.some((address) => address.includes(`/${part}`));
}

function isThere(cited: string, from: string): boolean {
  return ['', path.dirname(from)].some((base) => {
    const name = path.join(base, cited);
    if (!name.includes('*')) return existsSync(path.join(ROOT, name));
    const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll(/\*+/g, '[^/]*')}$`);
    return tracked.some((file) => pattern.test(file));
  });
}

function headingsOf(document: string): string[] {
  return linesOf(readFileSync(path.join(ROOT, document), 'utf8')).flatMap(({ text, isCode }) => {
    if (isCode === true) return [];
    const heading = /^#+ (.+)$/.exec(text)?.[1] ?? /^\*\*(.+?)\.?\*\*/.exec(text)?.[1];
    return heading ?? [];
  });
}

const rooms = new Set(tracked.flatMap((file) => /^(\w[\w-]*)\//.exec(file)?.[1] ?? []));
const names = new Set(tracked.map((file) => path.basename(file)));
const decisions = new Set(tracked.flatMap((file) => /^docs\/adr\/0*(\d+)-/.exec(file)?.[1] ?? []));

/** Returns the citations in a text that do not exist. */
function problemsOf(text: string, file: string): string[] {
  const own = text.replaceAll(/\b[a-z][a-z+.-]*:\/\/\S+/gi, ' ');
  const found: string[] = [];
  for (const [cited] of own.matchAll(FILE)) if (!isThere(cited, file)) found.push(cited);
  for (const [, cited = ''] of own.matchAll(FOLDER)) if (!isThere(cited, file) && !isAddress(cited)) found.push(cited);
  for (const [cited] of own.matchAll(BARE_FOLDER))
    if (rooms.has(cited.split('/')[0]!) && !isThere(cited, file)) found.push(cited);
  // A page may name a file without its folder if the link or the text before it names the folder.
  const isNamed = (cited: string): boolean => (file.endsWith('.md') ? names.has(cited) : isThere(cited, file));
  for (const [cited] of own.matchAll(NAME)) if (!isNamed(cited)) found.push(cited);
  for (const [, document = '', heading = ''] of own.matchAll(/([\w./-]+\.md), "([^"]+)"/g)) {
    if (existsSync(path.join(ROOT, document)) && !headingsOf(document).includes(heading))
      found.push(`${document}, "${heading}"`);
  }
  for (const [cited, number = ''] of own.matchAll(/\bADR (\d+)/g)) if (!decisions.has(number)) found.push(cited);
  // Sections of standards have permanent numbers, those of documents do not.
  const standards = own.replaceAll(/\bRFC \d+,? sections? [\d.]+/g, ' ');
  for (const [cited] of standards.matchAll(/\bsections? \d+|§ ?\d+/gi)) found.push(cited);
  // A document must be cited by its path.
  for (const [cited] of own.matchAll(
    /\b(?:ARCHITECTURE|CONTRIBUTING|[Ee]xtensions|[Ss]pecification|[Dd]ecisions), "[^"]*"/g,
  ))
    found.push(cited);
  return found.filter((cited) => !ELSEWHERE.some(([pattern]) => pattern.test(cited)));
}

function partsOf(file: string, text: string): Part[] {
  return file.endsWith('.md') ? linesOf(text) : commentsOf(file, text);
}

function problemsIn(file: string, text: string): string[] {
  return partsOf(file, text).flatMap((part) => {
    const problems = part.isCode === true ? problemsOfCode(part.text, text) : problemsOf(part.text, file);
    return problems.map((cited) => `${file}:${part.line}: ${cited}`);
  });
}

/** Returns the missing files of the repository that a line of code names. The document itself may create files. */
function problemsOfCode(line: string, document: string): string[] {
  return [...line.matchAll(FILE)].flatMap(([cited]) => {
    const isOurs = rooms.has(cited.split('/')[0]!) && !document.includes(`file=${cited}\n`);
    return isOurs && !isThere(cited, '') ? [cited] : [];
  });
}

describe('citations', () => {
  const sources = tracked.filter(
    (file) => /\.(?:tsx?|mjs|js|css|sh|ya?ml|py|md)$|Dockerfile$/.test(file) && !file.endsWith('src/openapi.ts'),
  );

  it('name files, folders, headings and decisions that exist', () => {
    assert.ok(sources.length > 1_500, `${sources.length} sources`);
    const problems = sources.flatMap((file) => problemsIn(file, readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(problems, []);
  });

  const refused: [title: string, file: string, text: string, cited: string[]][] = [
    ['a file that is gone', 'api/app.ts', '// See api/gone.ts.', ['api/gone.ts']],
    ['the bare name of a file of another folder', 'api/app.ts', '/** In planner.ts. */', ['planner.ts']],
    [
      'a folder that is gone',
      'api/app.ts',
      '/**\n * Below `api/gone/`, and in\n * test/gone/.\n */',
      ['api/gone/', 'test/gone/'],
    ],
    ['a file that a comment at the end of a line names', 'deploy/x.yml', 'a: 1 # scripts/gone.sh', ['scripts/gone.sh']],
    ['a pattern of no file', 'api/app.ts', '// All of docs/gone/*.tsv.', ['docs/gone/*.tsv']],
    [
      'a heading that is gone',
      'api/app.ts',
      '// docs/use/files.md, "No such\n// heading".',
      ['docs/use/files.md, "No such heading"'],
    ],
    ['a decision that was never made', 'api/app.ts', 'run(); // ADR 999', ['ADR 999']],
    ['a numbered section', 'api/app.ts', '// Extensions, section 12.', ['section 12']],
    ['a document without its path', 'api/app.ts', '// Specification, "Billing".', ['Specification, "Billing"']],
    [
      'what a page names',
      'docs/use/x.md',
      'As [there](../gone.md), see `gone/`:\n```sh\nnode scripts/gone.mjs mine/x.ts\n```',
      ['../gone.md', 'gone/', 'scripts/gone.mjs'],
    ],
  ];
  for (const [title, file, text, cited] of refused) {
    it(`refuses ${title}`, () => {
      assert.deepEqual(
        problemsIn(file, text).map((problem) => problem.replace(/^\S+: /, '')),
        cited,
      );
    });
  }

  it('takes what is there, standards, addresses, and what only looks like a path', () => {
    const text = [
      '// graph/planner.ts, `api/runs/`, docs/adr/*.md, ADR 2, and app.ts beside it; RFC 9110, section 14.',
      "const url = 'https://example.com/x/y.ts'; // `pins/`, https://example.com/a/b.md, {{ input/x.ts }}",
      "const text = '// api/gone.ts';",
    ].join('\n');
    assert.deepEqual(problemsIn('api/main.ts', text), []);
  });
});
