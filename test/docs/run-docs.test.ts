import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { needPrograms } from '../support/programs.js';
import { execute, type Finished } from '../support/shell.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('running the commands of a document', function () {
  this.timeout(120_000);
  let folder: string;

  before(function () {
    needPrograms(this, 'bash', 'git');
    folder = mkdtempSync(path.join(tmpdir(), 'docs-test-'));
  });
  after(() => folder !== undefined && rmSync(folder, { recursive: true, force: true }));

  function run(blocks: [info: string, text: string][], ...options: string[]): Promise<Finished> {
    const file = path.join(folder, 'page.md');
    const lines = blocks.flatMap(([info, text]) => ['Words.', `\`\`\`${info}`, text, '```', '']);
    writeFileSync(file, lines.join('\n'));
    return execute(process.execPath, ['scripts/run-docs.mjs', file, ...options], { cwd: ROOT });
  }

  it('runs the blocks in one shell, in a copy of the tree', async () => {
    const { code, stdout } = await run([
      ['sh run', 'export NAME=Ada\ntouch here-only'],
      ['ts file=deep/greet.mjs', 'console.log(JSON.stringify({ name: process.env.NAME, list: [1] }))'],
      [
        'diff apply',
        '--- a/README.md\n+++ b/README.md\n@@ -1,2 +1,2 @@\n-# Workflow automation service\n+# Patched\n ',
      ],
      ['sh run', 'head -1 README.md | grep -q Patched\nnode deep/greet.mjs'],
      ['json shape', '{"name": "Grace", "list": [7]}'],
    ]);
    assert.equal(code, 0, stdout);
    assert.equal((await execute('ls', ['here-only'], { cwd: ROOT })).code, 2);
  });

  const failures: [title: string, blocks: [string, string][], told: RegExp][] = [
    ['a command that fails, not only the last of its block', [['sh run', 'false\ntrue']], /exit code 1/],
    ['a command in a pipe', [['sh run', 'echo out; false | cat']], /out\n[^]*exit code 1/],
    [
      'a variable that its program needs and the page does not export',
      [['sh run', "NAME=Ada\nnode -e 'process.exit(process.env.NAME === undefined ? 1 : 0)'"]],
      /exit code 1/,
    ],
    ['a variable that nobody has set', [['sh run', 'echo "$NOBODY"']], /NOBODY: unbound/],
    [
      'a diff that does not apply',
      [['diff apply', '--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-no\n+x']],
      /README.md/,
    ],
    [
      'an answer without a field',
      [
        ['sh run', 'echo "{}"'],
        ['json shape', '{"id": 1}'],
      ],
      /has no id/,
    ],
    [
      'an answer of another type',
      [
        ['sh run', `echo '{"id": "1"}'`],
        ['json shape', '{"id": 1}'],
      ],
      /is string, not number/,
    ],
    ['a job that ends before it is ready', [['sh background=never-there', 'true']], /exit code 1/],
    ['a block without an action', [['sh', 'true']], /`sh` says nothing/],
    ['an unknown action', [['sh runs', 'true']], /`sh runs` says nothing/],
  ];
  for (const [title, blocks, told] of failures) {
    it(`fails for ${title}, and shows why`, async () => {
      const { code, stdout, stderr } = await run(blocks);
      assert.equal(code, 1, stdout + stderr);
      assert.match(stdout + stderr, told);
    });
  }

  it('ends all processes of a job that does not pass its signal on', async () => {
    const job = path.join(folder, 'job.pid');
    const started = `sh -c 'sleep 300 & echo $! > ${job}; touch ready; wait'`;
    const { code, stdout } = await run([
      ['sh background=ready', started],
      ['sh run', `kill -0 $(cat ${job})`],
    ]);
    assert.equal(code, 0, stdout);
    const { stdout: left } = await execute('sh', ['-c', `kill -0 $(cat ${job}) 2>/dev/null || echo gone`], {
      cwd: folder,
    });
    assert.equal(left, 'gone\n');
  });
});
