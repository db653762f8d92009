// Terminals and service managers signal the whole process group, and npm forwards its own signal to its child as well.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createAccount } from '../api/accounts.js';
import { createApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { isAlive } from '../../harness/processes/signals.js';
import { secretsOf } from '../../harness/stack/service-process.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** A port on which nothing listens. */
const NOWHERE = '127.0.0.1:1';
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

interface NpmService {
  output: () => string;
  /** Sends the signal to the process group, twice. Returns npm's exit code once no process of the group is left. */
  stopGroup: (signal: NodeJS.Signals) => Promise<number | null>;
}

describe('signals to the process group', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  async function startByNpm(script: string, isReady: RegExp, env: Record<string, string> = {}): Promise<NpmService> {
    const { database_url: databaseUrl, temporal_address: temporalAddress, api_url: apiUrl } = stack.stack;
    const { SECRETS_KEY, INTERNAL_SERVICE_TOKEN, JWT_SECRET } = secretsOf(stack);
    const child = spawn('npm', ['run', '--silent', script], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DATABASE_URL: databaseUrl,
        TEMPORAL_ADDRESS: temporalAddress,
        PUBLIC_URL: apiUrl,
        SECRETS_KEY,
        INTERNAL_SERVICE_TOKEN,
        JWT_SECRET,
        ALLOW_PRIVATE_NETWORK: 'true',
        PORT: '0',
        WORKER_METRICS_PORT: '0',
        ...env,
      },
    });
    const group = -child.pid!;
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    }
    const exited = once(child, 'close') as Promise<[number | null]>;
    await eventually(() => isReady.test(text) || !isAlive(group), { timeoutMs: 30_000 });
    assert.match(text, isReady);
    return {
      output: () => text,
      async stopGroup(signal) {
        // The service also gets the signals that npm forwards. A later signal could reach npm while it ends by itself.
        process.kill(group, signal);
        process.kill(group, signal);
        const [code] = await exited;
        await eventually(() => !isAlive(group));
        return code;
      },
    };
  }

  for (const signal of SIGNALS) {
    it(`let npm run api answer the request that is under way (${signal})`, async () => {
      const account = await createAccount(stack);
      const workflowId = await account.api.createWorkflow(await account.api.createProject(), chain(1));
      // Without Temporal, the start of a run takes two seconds, its deadline, so the signal comes during the request.
      const service = await startByNpm('api', /"msg":"listening"/, { TEMPORAL_ADDRESS: NOWHERE });
      const port = /"port":(\d+)/.exec(service.output())![1]!;
      const answer = createApiClient(`http://127.0.0.1:${port}`, account.apiKey).run(workflowId);
      await eventually(async () => {
        const rows = await queryDatabase(stack, 'SELECT 1 FROM runs WHERE workflow_id = $1', [workflowId]);
        return rows.length === 1;
      });
      const [started, code] = await Promise.all([answer, service.stopGroup(signal)]);
      assert.deepEqual([started.status, code], [201, 0]);
      assert.match(service.output(), /"msg":"stopped"/);
    });

    it(`let npm run worker drain (${signal})`, async () => {
      const service = await startByNpm('worker', /"msg":"worker started"/, { TEMPORAL_TASK_QUEUE: 'npm-signals' });
      assert.equal(await service.stopGroup(signal), 0);
      assert.match(service.output(), /"msg":"worker stopped"/);
    });

    it(`end npm run worker at once while Temporal is away (${signal})`, async () => {
      const service = await startByNpm('worker', /Temporal is not reachable yet/, { TEMPORAL_ADDRESS: NOWHERE });
      const startedAt = performance.now();
      assert.equal(await service.stopGroup(signal), 0);
      assert.ok(performance.now() - startedAt < 5_000);
    });

    it(`let npm run codec-server end with code 0 (${signal})`, async () => {
      const service = await startByNpm('codec-server', /"msg":"listening"/, {
        TEMPORAL_PAYLOAD_KEY: randomBytes(32).toString('base64'),
        CODEC_SERVER_TOKEN: 'codec-token-0123456789',
        CODEC_SERVER_PORT: '0',
      });
      assert.equal(await service.stopGroup(signal), 0);
    });
  }
});
