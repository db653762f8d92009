// A stack, and the systems outside it: target, model provider and tool server. They are in this process, so they
// survive every fault, and they count all calls.
import { writeFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { startFakeModelProvider, type FakeModelProvider } from '../harness/target/fake-model-provider.js';
import { startHttpTarget, type HttpTarget } from '../harness/target/http-target.js';
import { queryDatabase } from '../test/support/inspect.js';
import { startStack, TEST_PRICES, type StartedStack } from '../harness/stack/stack.js';
import { makeDataDir, portsOf } from '../harness/stack/supervisor.js';
import { startToolServer, type ToolServer } from '../harness/target/tool-server.js';
import { readStackFile } from '../cli/embedded/stack-file.js';
import { withDescendants } from '../harness/processes/family.js';
import { signalAll } from '../harness/processes/signals.js';
import { AGENT_MODEL, MODEL, modelKey, toolKey, type Outside } from './shapes.js';

export interface World {
  /** The current stack, which `restart` and `crash` replace. */
  readonly stack: StartedStack;
  /** A restart changes neither the address nor the key. */
  apiUrl: string;
  apiKey: string;
  outside: Outside;
  providersFile: string;
  workerReadyUrl: string;
  /** Counts the calls of nodes that have reached the outside so far, by the key of the `ExpectedCall`. */
  countCalls: () => Record<string, number>;
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
  /** Stops the stack with SIGTERM, waits for the end of every process, and starts it again on the same data. */
  restart: () => Promise<void>;
  /** Kills every process with SIGKILL, including the supervisor, and starts the stack again at once. */
  crash: () => Promise<void>;
  /** Rejects if a process is left behind. `keep` retains the data directory. */
  close: (options: { keep: boolean }) => Promise<void>;
}

const MODEL_DELAY_MS = 300;
/** Long enough to acquire a lock before the model answers (kinds/windows.ts). */
const SLOW_MODEL_DELAY_MS = 1_500;
const TOOL_DELAY_MS = 300;

/** `settings` are added to the stack's environment. */
export async function createWorld(settings: Record<string, string> = {}): Promise<World> {
  const dataDir = makeDataDir();
  const [target, tools, model] = await Promise.all([startHttpTarget(), startToolServer(), startFakeModelProvider()]);
  scriptModels(model);
  const providersFile = path.join(dataDir, 'fault-model-providers.json');
  const provider = { name: 'fake', base_url: model.url, models: [{ id: '*', ...TEST_PRICES }] };
  writeFileSync(providersFile, JSON.stringify({ providers: [provider] }));
  const metricsPort = String(await getPort({ host: '127.0.0.1' }));
  const env: Record<string, string> = {
    ...settings,
    MODEL_PROVIDERS_FILE: providersFile,
    WORKER_METRICS_PORT: metricsPort,
  };
  const closeOutside = () => Promise.all([target.close(), tools.close(), model.close()]);
  let stack = await startStack({ dataDir, env }).catch(async (error: unknown) => {
    await closeOutside();
    throw error;
  });
  Object.assign(env, portsOf(stack));
  // The clients of a row poll more often than the local user's key allows.
  await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 1000000');
  const world: World = {
    get stack() {
      return stack;
    },
    apiUrl: stack.apiUrl,
    apiKey: stack.apiKey,
    outside: { targetUrl: target.url, toolUrl: tools.url },
    providersFile,
    workerReadyUrl: `http://127.0.0.1:${metricsPort}/readyz`,
    countCalls: () => countCalls(target, model, tools),
    query: (text, values) => queryDatabase(stack, text, values),
    async restart() {
      await stack.stop();
      stack = await startStack({ dataDir, env });
    },
    async crash() {
      const killed = stack;
      // The supervisor is killed first, because it would restart the others.
      signalAll(withDescendants(killed.supervisor.pid!), 'SIGKILL');
      stack = await startStack({ dataDir, env });
      await killed.modelProvider.close();
    },
    async close({ keep }) {
      allowToRun(stack);
      try {
        await stack.stop();
      } finally {
        await closeOutside();
        if (!keep) rmSync(dataDir, { recursive: true, force: true });
      }
    },
  };
  return world;
}

/** Continues processes that an aborted fault may have left stopped. */
export function allowToRun({ supervisor, dataDir }: StartedStack): void {
  const pids = Object.values(readStackFile(dataDir)?.pids ?? {}).flatMap((pid) => withDescendants(pid));
  signalAll([supervisor.pid!, ...pids], 'SIGCONT');
}

function scriptModels(model: FakeModelProvider): void {
  model.script(MODEL, (request) => ({
    delayMs: nameOf(request.messages).endsWith('slow') ? SLOW_MODEL_DELAY_MS : MODEL_DELAY_MS,
  }));
  model.script(AGENT_MODEL, ({ messages }) => {
    const name = nameOf(messages);
    const hasAnswer = messages.some(({ role }) => role === 'tool');
    if (hasAnswer) return { delayMs: MODEL_DELAY_MS, text: `done: ${name}` };
    const call = { name: 'slow', arguments: { ms: TOOL_DELAY_MS, text: name } };
    return { delayMs: MODEL_DELAY_MS, toolCalls: [call] };
  });
}

function nameOf(messages: { role: string; content: unknown }[]): string {
  return String(messages.find(({ role }) => role === 'user')?.content);
}

function countCalls(target: HttpTarget, model: FakeModelProvider, tools: ToolServer): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (key: string): void => void (counts[key] = (counts[key] ?? 0) + 1);
  for (const request of target.requests) count(request.path);
  for (const { messages } of model.requests) {
    count(modelKey(nameOf(messages), messages.filter(({ role }) => role === 'assistant').length));
  }
  for (const { arguments: given } of tools.calls) count(toolKey(String(given['text'])));
  return counts;
}
