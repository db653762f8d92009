import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The limit for our code, without comments. Each workflow thread holds it, and each worker reads it when it starts. */
const OWN_CODE_LIMIT_BYTES = 78_500;
/** Block comments, and lines that hold a comment alone. */
const COMMENTS = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;

describe('workflow bundle', function () {
  this.timeout(120_000);

  it('holds our planner and the SDK, nothing else, and little of it', async () => {
    const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };
    const { code } = await bundleWorkflowCode({
      workflowsPath: path.join(ROOT, 'temporal-workflows/index.ts'),
      workflowInterceptorModules: [path.join(ROOT, 'temporal-workflows/interceptors.ts')],
      logger: quiet,
    });
    const map = /sourceMappingURL=data:application\/json;[^,]*base64,([A-Za-z0-9+/=]+)/.exec(code)?.[1];
    assert.ok(map, 'the bundle has no source map to read its modules from');
    const { sources, sourcesContent } = JSON.parse(Buffer.from(map, 'base64').toString()) as {
      sources: string[];
      sourcesContent: string[];
    };
    const packages = new Set<string>();
    const ownFiles: string[] = [];
    let ownBytes = 0;
    sources.forEach((source, index) => {
      const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
      if (inPackage !== undefined) packages.add(inPackage);
      else if (/(?:temporal-workflows|contract|graph|activities|db|api|config|cli)\/[^?]*\.[jt]s$/.test(source)) {
        ownFiles.push(
          source.replace(/^.*?\/(?=(?:temporal-workflows|contract|graph|activities|db|api|config|cli)\/)/, ''),
        );
        ownBytes += sourcesContent[index]!.replaceAll(COMMENTS, '').length;
      }
    });
    assert.ok(ownFiles.some((file) => file.endsWith('temporal-workflows/run-graph.ts')));
    for (const file of ownFiles)
      assert.match(file, /^(?:temporal-workflows|contract|graph)\//, `${file} is in the workflow bundle`);
    for (const name of packages) {
      assert.match(
        name,
        /^(?:@temporalio\/(?:workflow|common|worker|proto)|@noble\/hashes|ms|long|nexus-rpc|source-map|source-map-support)$/,
        name,
      );
    }
    assert.ok(ownBytes < OWN_CODE_LIMIT_BYTES, `${ownBytes} bytes of our own`);
    // All runs of a thread share these modules (ADR 14).
    const mutable = /^(?:export )?(?:let |var |const \w+.* = (?:new (?:Map|Set|WeakMap)\b|\[\]|\{\}))/m;
    for (const file of ownFiles) {
      assert.doesNotMatch(readFileSync(path.join(ROOT, file), 'utf8'), mutable, `${file} keeps something of a run`);
    }
  });
});
