// Compares the Dockerfile and its build context with the build and the compose file. No image is built here.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { DockerfileParser, type Cmd, type From, type Healthcheck, type JSONInstruction } from 'dockerfile-ast';
import { filledCompose, ROOT } from './compose-file.js';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
/** These files are in the bundle of the console, for its gallery. */
const SAMPLES = ['examples/gallery', 'examples/graphs'];
const dockerfile = DockerfileParser.parse(read('Dockerfile'));
const instructions = dockerfile.getInstructions();
const { services } = filledCompose();

interface Stage {
  name: string;
  from: string;
  instructions: ReturnType<typeof dockerfile.getInstructions>;
}

const stages: Stage[] = [];
for (const instruction of instructions) {
  if (instruction.getKeyword() === 'FROM') {
    const from = instruction as From;
    stages.push({ name: from.getBuildStage() ?? '', from: from.getImage() ?? '', instructions: [] });
  } else stages.at(-1)?.instructions.push(instruction);
}

/** Returns the instructions of a stage, after those of the stages that it is built from. */
function historyOf(name: string): Stage['instructions'] {
  const stage = stages.find((each) => each.name === name);
  return stage === undefined ? [] : [...historyOf(stage.from), ...stage.instructions];
}

function of(name: string, keyword: string): string[] {
  const found = historyOf(name).filter((instruction) => instruction.getKeyword() === keyword);
  return found.map((instruction) => instruction.getTextContent().slice(keyword.length).trim());
}

const jsonOf = (instruction: JSONInstruction): string[] =>
  instruction.getJSONStrings().map((text) => JSON.parse(text.getValue()) as string);

function commandOf(name: string): string[] {
  const last = historyOf(name).findLast((instruction) => instruction.getKeyword() === 'CMD');
  return jsonOf(last as Cmd);
}

const allowed = read('.dockerignore')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));

/** The folders from which the build makes the console. */
function consoleFolders(): string[] {
  const [, list = ''] = /const CONSOLE = \[([^\]]+)\]/.exec(read('scripts/build.mjs')) ?? [];
  return [...list.matchAll(/'([^']+)'/g)].map(([, folder]) => folder!);
}

describe('Dockerfile', () => {
  it('has a target for each image of docker-compose.yml, starting the same', () => {
    for (const [service, { build, command }] of Object.entries(services)) {
      if (build === undefined) continue;
      assert.ok(
        stages.some(({ name }) => name === build.target),
        service,
      );
      if (service === build.target) assert.deepEqual(commandOf(build.target), command);
    }
  });

  it('starts from pinned images only, and those are of the Node that the quick tests also run on', () => {
    const bases = stages.filter(({ from }) => stages.every(({ name }) => name !== from));
    assert.equal(bases.length, 2);
    const version = /NEWEST_NODE = '(\d+\.\d+\.\d+)'/.exec(read('scripts/newest-node.mjs'))?.[1];
    for (const { from } of bases) {
      assert.equal(from.replace(/@sha256:[0-9a-f]{64}$/, ''), `node:${version}-bookworm-slim`);
    }
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    assert.equal(engines.node, '>=20.19');
    assert.ok(Number(version?.split('.')[0]) >= 20);
    assert.match(of('base', 'RUN').join(), /npm@11\.\d+\.\d+$/);
  });

  for (const target of ['api', 'worker']) {
    it(`runs the ${target} as an ordinary user, behind a first process that passes signals on`, () => {
      assert.equal(of(target, 'USER').at(-1), 'node');
      assert.deepEqual(of(target, 'ENTRYPOINT'), ['["/usr/bin/tini", "--"]']);
      assert.match(of(target, 'RUN').join(), /install .* tini/);
      assert.match(of(target, 'ENV').join(), /NODE_ENV=production/);
    });

    it(`asks the ${target} on its port whether it is alive`, () => {
      const check = historyOf(target).findLast((each) => each.getKeyword() === 'HEALTHCHECK') as Healthcheck;
      const command = check.getArgumentsContent() ?? '';
      const port = services[target]!.environment![target === 'api' ? 'PORT' : 'WORKER_METRICS_PORT'];
      assert.match(command, new RegExp(`\\|\\| ${port}\\) \\+ '/healthz'`));
      assert.deepEqual(of(target, 'EXPOSE'), [port]);
    });
  }

  it('takes production dependencies, the build and package.json into the image, and nothing else', () => {
    assert.deepEqual(of('api', 'COPY'), [
      'package.json ./',
      '--from=production-dependencies /app/node_modules ./node_modules',
      '--from=build /app/dist ./dist',
    ]);
    assert.match(of('production-dependencies', 'RUN').join('\n'), /npm ci --omit=dev/);
    assert.ok(instructions.every((instruction) => instruction.getKeyword() !== 'ADD'));
    for (const stage of stages) {
      for (const run of of(stage.name, 'RUN')) assert.doesNotMatch(run, /npm install(?! --global npm@)/);
    }
  });

  it('gets what the build reads into its context, and neither tests nor data nor secrets', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    for (const entry of allowed) assert.ok(existsSync(path.join(ROOT, entry)), entry);
    assert.equal(read('.dockerignore').split('\n')[1], '*');
    assert.deepEqual(
      new Set(allowed.filter((entry) => statSync(path.join(ROOT, entry)).isDirectory())),
      new Set([
        ...include.filter((folder) => folder !== 'bench' && folder !== 'harness'),
        ...consoleFolders(),
        ...SAMPLES,
      ]),
    );
    for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
      assert.ok(allowed.includes(file));
    }
    const scripts = [...read('scripts/build.mjs').matchAll(/from '\.\/([\w.-]+)'/g)].map(([, file]) => file);
    assert.deepEqual(
      new Set(allowed.filter((entry) => entry.startsWith('scripts/'))),
      new Set(['scripts/build.mjs', ...scripts.map((file) => `scripts/${file}`)]),
    );
  });

  it('leaves no package out that an entry point of the build loads', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const entries = [
      'api/main.js',
      'activities/worker/main.js',
      'cli/migrate.js',
      'cli/admin.js',
      'cli/codec-server.js',
    ];
    const [files, packages] = [new Set<string>(), new Set<string>()];
    const visit = (file: string): void => {
      if (files.has(file)) return;
      files.add(file);
      for (const [, target] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'([@.\w][^',\s]*)'/g)) {
        if (target!.startsWith('.')) visit(path.resolve(path.dirname(file), target!));
        else if (!target!.startsWith('node:')) packages.add(target!);
      }
      // The files of these packages are not imported, but served from the package's folder.
      for (const [, name] of readFileSync(file, 'utf8').matchAll(/\.resolve\('([@\w][^']*)\/package\.json'\)/g)) {
        packages.add(name!);
      }
    };
    for (const entry of entries) visit(path.join(ROOT, 'dist', entry));
    assert.ok(files.size > 100 && packages.size > 10 && packages.has('swagger-ui-dist'));
    for (const name of packages) {
      const root = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
      assert.ok(root in dependencies || builtinModules.includes(root), name);
    }
    assert.ok(readdirSync(path.join(ROOT, 'dist')).includes('workflow-bundle.js'), 'the bundle is part of the build');
  });
});
