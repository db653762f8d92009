// The search for the Temporal program may take minutes. The rest of a start goes on meanwhile.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import { Stack } from '../../../cli/embedded/supervisor.js';
import { WAYS } from '../../../cli/embedded/temporal-binary.js';
import { processesOf } from '../../../harness/processes/family.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';
import { createGate } from '../../../harness/timing/gate.js';
import { eventually } from '../../../harness/timing/eventually.js';

const PROGRAM = '#!/bin/sh\necho "temporal version 1.5.1"\n';

describe('the start of a stack without a Temporal program', function () {
  this.timeout(300_000);
  const ways = [...WAYS];
  let cache: string;
  let dataDir: string;

  beforeEach(() => {
    cache = mkdtempSync(path.join(tmpdir(), 'start-order-'));
    dataDir = makeDataDir();
  });
  afterEach(() => {
    WAYS.splice(0, WAYS.length, ...ways);
    for (const folder of [cache, dataDir]) rmSync(folder, { recursive: true, force: true });
  });

  it('sets PostgreSQL up meanwhile, and claims the ports of Temporal when the program is there', async () => {
    const fetching = createGate();
    const [begun, port] = [createGate(), await getPort({ host: '127.0.0.1' })];
    const fetch = async (_version: string, target: string): Promise<void> => {
      begun.open();
      await fetching.opened;
      writeFileSync(target, PROGRAM);
      chmodSync(target, 0o755);
    };
    WAYS.splice(0, WAYS.length, { begins: 'fetching it for the test', limitMs: 600_000, fetch });
    const lines: string[] = [];
    const { HOME, TMPDIR, PATH = '' } = process.env;
    const folders = PATH.split(path.delimiter);
    const env = {
      ...(HOME !== undefined && { HOME }),
      ...(TMPDIR !== undefined && { TMPDIR }),
      PATH: folders.filter((folder) => !existsSync(path.join(folder, 'temporal'))).join(path.delimiter),
      XDG_CACHE_HOME: cache,
      DATA_DIR: dataDir,
      PORT: '0',
      POSTGRES_PORT: '0',
      TEMPORAL_PORT: String(port),
      TEMPORAL_UI_PORT: '0',
    };
    const report = (line: string): void => void lines.push(line);
    const stack = new Stack({ env, report, warn: report });
    const started = stack.start().then(
      () => assert.fail('it started'),
      (error: Error) => error,
    );
    const taker = createServer();
    try {
      await Promise.race([begun.opened, started.then((error) => Promise.reject(error))]);
      const isReady = () => lines.some((line) => line.startsWith('PostgreSQL on port'));
      await eventually(isReady, { timeoutMs: 240_000 });
      // The stack has not claimed this port yet.
      taker.listen(port, '127.0.0.1');
      await once(taker, 'listening');
      fetching.open();
      const { message } = await started;
      assert.equal(message, `Port ${port} is in use: set TEMPORAL_PORT to a free port, or to 0 to have one picked.`);
      assert.ok(!lines.some((line) => line.startsWith('Temporal on')), lines.join('\n'));
      assert.deepEqual(processesOf(dataDir), []);
    } finally {
      fetching.open();
      await stack.stop();
      taker.close();
    }
  });
});
