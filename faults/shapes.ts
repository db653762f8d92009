// The parts of the graphs that faults use, with the calls and results that are expected if the run succeeds.
import type { NodeKind as Kind } from '../graph/kinds.js';
import {
  agent,
  drawing,
  http,
  link,
  llm,
  mcp,
  resultOf,
  trigger,
  type Drawing,
  type DrawingNode,
} from '../harness/drawing/drawing.js';
import type { ExpectedCall, ExpectedNode } from './evidence.js';

export interface Shape {
  name: string;
  drawing: Drawing;
  /** Returns the nodes that are executed, with their calls, for a run with this tag. */
  expect: (tag: string) => ExpectedNode[];
}

/** The addresses that nodes call. */
export interface Outside {
  targetUrl: string;
  toolUrl: string;
}

/** The names of the models whose answers outside.ts defines. */
export const MODEL = 'faults-model';
export const AGENT_MODEL = 'faults-agent';
/** The price of 10 prompt and 5 completion tokens on the test stack. */
export const CALL_PRICE_USD = '0.00002';
const TWO_CALLS_USD = '0.00004';
/** The variable that all drawings here use. A run's input is `{tag}`. */
export const TAG = '{{ input.tag }}';

/** A node with its expectations, which depend on the run's tag. */
export interface Part {
  node: DrawingNode;
  expect: (tag: string) => Omit<ExpectedNode, 'id' | 'label'>;
}

export function request(outside: Outside, label: string, delayMs: number, method = 'GET'): Part {
  const path = (tag: string): string => `/delay/${delayMs}/${tag}/${label}`;
  const body = method === 'GET' ? {} : { body: { from: label } };
  return {
    node: http(outside.targetUrl + path(TAG), { label, method, ...body }),
    expect: (tag) => toExpected('http', '0', tag, [{ key: path(tag), mayRepeat: method === 'GET' }]),
  };
}

/** A GET whose answer becomes a file, and a POST of that file. */
export function withFile(outside: Outside): Shape {
  const path = (tag: string): string => `/delay/300/file/${tag}`;
  const save: Part = {
    // The file has the name of the last part of the path.
    node: http(outside.targetUrl + path(TAG), { label: 'save', settings: { response: 'file' } }),
    expect: (tag) => toExpected('http', '0', tag, [{ key: path(tag), mayRepeat: true }]),
  };
  const sent = (tag: string): string => `/delay/300/sent/${tag}`;
  const body = { $file: resultOf(save.node, 'file') };
  const send: Part = {
    node: http(outside.targetUrl + sent(TAG), { label: 'send', method: 'POST', body }),
    expect: (tag) => toExpected('http', '0', tag, [{ key: sent(tag), mayRepeat: false }]),
  };
  return inRow('with a file', [save, send]);
}

const HELD = 'held-';

/** True for a label whose model calls are answered only after the label is released (outside.ts). */
export function isHeld(label: string): boolean {
  return label.startsWith(HELD);
}

/** Returns the label in the name of a call, which is `<tag>/<label>`. */
export function labelOf(name: string): string {
  return name.split('/').at(-1)!;
}

export function heldPath(gate: string): string {
  return `/hold/${gate}`;
}

/** A call whose answer is held until its label is released. */
export function held(outside: Outside, kind: 'llm' | 'get' | 'post' | 'mcp'): Part {
  const label = `${HELD}${kind}`;
  if (kind === 'llm') return ask(label);
  if (kind === 'mcp') {
    return {
      node: mcp(outside.toolUrl, 'held', { text: `${TAG}/${label}` }, { label }),
      expect: (tag) => toExpected('mcp', '0', tag, [{ key: toolKey(`${tag}/${label}`), mayRepeat: false }]),
    };
  }
  return heldRequest(outside, label, label, kind.toUpperCase());
}

/** A request that the target answers after the gate is released: by outside.ts or a call of `/release/<gate>`. */
export function heldRequest({ targetUrl }: Outside, label: string, gate: string, method = 'GET'): Part {
  const path = (tag: string): string => `${heldPath(gate)}/${tag}/${label}`;
  const body = method === 'GET' ? {} : { body: { from: label } };
  return {
    node: http(targetUrl + path(TAG), { label, method, ...body, settings: { timeout: 300 } }),
    expect: (tag) => toExpected('http', '0', tag, [{ key: path(tag), mayRepeat: method === 'GET' }]),
  };
}

export function ask(label: string): Part {
  return {
    node: llm(`${TAG}/${label}`, { label, settings: { model_name: MODEL, temperature: 0 } }),
    expect: (tag) => toExpected('llm', CALL_PRICE_USD, tag, [{ key: modelKey(`${tag}/${label}`, 0), mayRepeat: true }]),
  };
}

export function callTool({ toolUrl }: Outside, label: string, delayMs: number): Part {
  return {
    node: mcp(toolUrl, 'slow', { ms: delayMs, text: `${TAG}/${label}` }, { label }),
    expect: (tag) => toExpected('mcp', '0', tag, [{ key: toolKey(`${tag}/${label}`), mayRepeat: false }]),
  };
}

/** Two model calls with one tool call between them. */
export function think({ toolUrl }: Outside, label: string, approval: 'always' | 'never'): Part {
  const settings = { model_name: AGENT_MODEL };
  return {
    node: agent(`${TAG}/${label}`, settings, [{ endpoint_url: toolUrl, require_approval: approval }], { label }),
    expect: (tag) => {
      const name = `${tag}/${label}`;
      return toExpected('agent', TWO_CALLS_USD, tag, [
        { key: modelKey(name, 0), mayRepeat: true, step: 'turn 0' },
        { key: toolKey(name), mayRepeat: false, step: 'tools 0' },
        { key: modelKey(name, 1), mayRepeat: true, step: 'turn 1' },
      ]);
    },
  };
}

/** Links the parts one after the other, after a trigger. */
export function inRow(name: string, parts: Part[]): Shape {
  const all = [startPart(), ...parts];
  for (const [index, { node }] of all.entries()) if (index > 0) link(all[index - 1]!.node, node);
  return toShape(name, drawing(all.map(({ node }) => node)), all);
}

export function startPart(): Part {
  return { node: trigger(), expect: (tag) => ({ ...free('trigger', tag) }) };
}

export function toShape(name: string, whole: Drawing, parts: Part[]): Shape {
  return {
    name,
    drawing: whole,
    expect: (tag) =>
      parts.map(({ node, expect }) => ({ id: node.id, label: String(node.data['label']), ...expect(tag) })),
  };
}

export function free(kind: Kind, marker: string): Omit<ExpectedNode, 'id' | 'label'> {
  return toExpected(kind, '0', marker, []);
}

export function toExpected(
  kind: Kind,
  amountUsd: string,
  marker: string,
  calls: ExpectedCall[],
): Omit<ExpectedNode, 'id' | 'label'> {
  return { kind, amountUsd, marker, calls };
}

/** Returns the key of a model call. `turn` counts from 0. */
export function modelKey(name: string, turn: number): string {
  return `model ${name} #${turn}`;
}

export function toolKey(name: string): string {
  return `tool ${name}`;
}
