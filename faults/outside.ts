// The systems outside of the service: target, model provider and tool server. They are in this process, so they survive
// every fault, and they count all calls.
import { writeFileSync } from 'node:fs';
import { startFakeModelProvider, type FakeModelProvider } from '../harness/target/fake-model-provider.js';
import { startHttpTarget, type HttpTarget } from '../harness/target/http-target.js';
import { startToolServer, type ToolServer } from '../harness/target/tool-server.js';
import { TEST_PRICES } from '../harness/stack/stack.js';
import { createGate, type Gate } from '../harness/timing/gate.js';
import { AGENT_MODEL, heldPath, isHeld, labelOf, MODEL, modelKey, toolKey } from './shapes.js';

const MODEL_DELAY_MS = 300;
const TOOL_DELAY_MS = 300;

export interface StartedOutside {
  targetUrl: string;
  toolUrl: string;
  modelUrl: string;
  countCalls: () => Record<string, number>;
  /** Answers all calls of held parts with this label (shapes.ts), past and future ones. */
  release: (label: string) => void;
  close: () => Promise<void>;
}

export async function startOutside(): Promise<StartedOutside> {
  const gates = new Map<string, Gate>();
  const gateOf = (label: string): Gate => {
    const gate = gates.get(label) ?? createGate();
    gates.set(label, gate);
    return gate;
  };
  const [target, tools, model] = await Promise.all([
    startHttpTarget(),
    startToolServer((text) => gateOf(labelOf(text)).opened),
    startFakeModelProvider(),
  ]);
  scriptModels(model, (label) => gateOf(label).opened);
  return {
    targetUrl: target.url,
    toolUrl: tools.url,
    modelUrl: model.url,
    countCalls: () => countCalls(target, model, tools),
    release(label) {
      target.release(heldPath(label));
      gateOf(label).open();
    },
    async close() {
      await Promise.all([target.close(), tools.close(), model.close()]);
    },
  };
}

/** Writes the file for MODEL_PROVIDERS_FILE. */
export function writeProviders(file: string, baseUrl: string): void {
  const provider = { name: 'fake', base_url: baseUrl, models: [{ id: '*', ...TEST_PRICES }] };
  writeFileSync(file, JSON.stringify({ providers: [provider] }));
}

function scriptModels(model: FakeModelProvider, hold: (label: string) => Promise<void>): void {
  model.script(MODEL, (request) => {
    const label = labelOf(nameOf(request.messages));
    return isHeld(label) ? { until: hold(label) } : { delayMs: MODEL_DELAY_MS };
  });
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
