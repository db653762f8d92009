// Compares docs/operate/deploy.md with the code: its YAML is parsed, and names existing images, commands, ports, paths
// and variables.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { parseEnvironment, VARIABLES } from '../../config/environment.js';
import { findModel, loadModelProviders } from '../../config/model-providers.js';
import { RUN_SEARCH_ATTRIBUTES } from '../../contract/run-workflow.js';
import { ROOT } from './compose-file.js';
import { SAMPLE_SECRETS } from './sample-secrets.js';

const DOCS = path.join(ROOT, 'docs');

interface Override {
  services?: Record<string, { environment: Record<string, string> }>;
}

const blocks = (file: string, language: string): string[] =>
  [...readFileSync(path.join(DOCS, file), 'utf8').matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, , word]) => word === language)
    .map(([, indent, , text]) => text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));

const overrides = blocks('operate/deploy.md', 'yaml').map((text) => parse(text) as Override);

describe('docs/operate/deploy.md', () => {
  it('shows YAML that parses, as every other document does', () => {
    const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.md'))) {
      for (const text of blocks(file, 'yaml')) {
        for (const document of parseAllDocuments(text)) assert.deepEqual(document.errors, [], file);
      }
    }
  });

  it('overrides services that exist, with variables that the code reads', () => {
    const given = overrides.flatMap(({ services: each = {} }) => Object.entries(each));
    assert.deepEqual(
      given.map(([name]) => name),
      ['api', 'worker', 'api', 'worker'],
    );
    for (const [, { environment }] of given) assert.ok(VARIABLES.includes(Object.keys(environment)[0]!));
  });

  it('shows a file of providers that is read, with the keys that the override sets', () => {
    const [text] = blocks('operate/deploy.md', 'json');
    const folder = mkdtempSync(path.join(tmpdir(), 'providers-'));
    try {
      const file = path.join(folder, 'providers.json');
      writeFileSync(file, text!);
      const keys = Object.keys(overrides[0]!.services!['api']!.environment).slice(1);
      const env = Object.fromEntries([['MODEL_PROVIDERS_FILE', file], ...keys.map((name) => [name, 'key'])]);
      const providers = loadModelProviders(parseEnvironment({ MODEL_PROVIDERS_FILE: file }), env);
      assert.equal(findModel(providers, 'MODEL')?.provider.name, 'anthropic');
      assert.equal(findModel(providers, 'another')?.provider.name, 'local');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('replaces the volume of files by a bucket', () => {
    const { environment } = overrides[1]!.services!['worker']!;
    const { fileStore } = parseEnvironment(environment);
    assert.deepEqual(fileStore, { bucket: 'workflow-files', endpoint: undefined, region: 'eu-central-1' });
  });

  it('names the search attributes of runs to Temporal Cloud and to the setup script', () => {
    const tcld = blocks('operate/deploy.md', 'sh').find((text) =>
      text.includes('tcld namespace search-attributes add'),
    )!;
    const script = readFileSync(path.join(ROOT, 'deploy/temporal/setup-namespace.sh'), 'utf8');
    for (const [name, type] of Object.entries(RUN_SEARCH_ATTRIBUTES)) {
      assert.ok(tcld.includes(`--sa ${name}=${type}`), name);
      assert.match(script, new RegExp(`for name in .*\\b${name}\\b.*; do`));
      assert.equal(type, 'Keyword');
    }
  });

  it('has a command that makes all secrets, in a folder that is readable for its owner alone', () => {
    const [command] = blocks('operate/deploy.md', 'sh');
    const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
    const read = (name: string): string => readFileSync(path.join(folder, 'secrets', name), 'utf8').trim();
    try {
      execFileSync('/bin/sh', ['-euc', command!], { cwd: folder });
      const names = readdirSync(path.join(folder, 'secrets'));
      assert.deepEqual(names.toSorted(), Object.keys(SAMPLE_SECRETS).toSorted());
      assert.equal(Buffer.from(read('secrets_key'), 'base64').length, 32);
      for (const name of names.filter((each) => each !== 'secrets_key')) assert.match(read(name), /^[0-9a-f]{64}$/);
      assert.equal(new Set(names.map(read)).size, names.length);
      assert.equal(statSync(path.join(folder, 'secrets')).mode & 0o777, 0o700);
      assert.equal(
        statSync(path.join(folder, 'secrets/secrets_key')).mode & 0o777,
        0o444,
        'containers have their users',
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
