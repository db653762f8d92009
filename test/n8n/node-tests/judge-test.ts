// Imports one test of n8n, plays it (../play-drawing.ts), and compares each result with the one that n8n expects.
import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../../../graph/json.js';
import { renderJson } from '../../../graph/template.js';
import { translateN8n, type TranslatedFile } from '../../../n8n/translate-n8n.js';
import type { N8nTest } from './n8n-tests.js';
import { play, type Played, type PlayOptions } from '../play-drawing.js';

export type Verdict = 'agrees' | 'differs silently' | 'does not run' | 'warned' | 'left out';

export interface Judged {
  test: string;
  node: string;
  type: string;
  verdict: Verdict;
  /** True if the import warns of the node itself. */
  hasWarning: boolean;
  detail: string;
}

export async function judgeTest(test: N8nTest, options: Omit<PlayOptions, 'input'>): Promise<Judged[]> {
  const file = translateN8n(structuredClone(test.workflow));
  const played = await play(file.drawing, { ...options, input: {} });
  const warningsOf = (node: string): string[] =>
    file.warnings.filter((warning) => warning.node === node).map(({ message }) => message);
  const judged = [...test.expected].map(([node, { type, items }]): Judged => {
    const warnings = warningsOf(node);
    const { verdict, detail } = judgeNode(node, items.map(jsonOf), warnings, { file, played });
    return { test: test.name, node, type, verdict, hasWarning: warnings.length > 0, detail };
  });
  const agreeing = new Set(judged.filter(({ verdict }) => verdict === 'agrees').map(({ node }) => node));
  return judged.map((each) => {
    const isSilent = each.verdict === 'differs silently' && !isTold(each.node, { test, agreeing, warningsOf });
    return each.verdict === 'differs silently' && !isSilent ? { ...each, verdict: 'warned' } : each;
  });
}

interface Told {
  test: N8nTest;
  agreeing: ReadonlySet<string>;
  warningsOf: (node: string) => string[];
}

/** Returns true if a node before this one has a warning, and no node on the path between them agrees with n8n. */
function isTold(node: string, { test, agreeing, warningsOf }: Told): boolean {
  const before = (name: string): string[] =>
    Object.entries((test.workflow['connections'] ?? {}) as JsonObject).flatMap(([from, kinds]) =>
      JSON.stringify(kinds).includes(`"node":${JSON.stringify(name)}`) ? [from] : [],
    );
  const met = new Set(before(node));
  for (const name of met) {
    if (agreeing.has(name)) continue;
    if (warningsOf(name).length > 0) return true;
    for (const other of before(name)) met.add(other);
  }
  return false;
}

function judgeNode(
  node: string,
  expected: unknown[],
  warnings: string[],
  { file, played }: { file: TranslatedFile; played: Played },
): { verdict: Verdict; detail: string } {
  const leftOut = warnings.find((message) => / was left out: /.test(message));
  if (leftOut !== undefined) return { verdict: 'left out', detail: leftOut };
  const output = file.outputs.get(node);
  const ran = output === undefined ? '' : renderJson(output.ran, played.values);
  if (output === undefined || ran === '' || output.ran === '{{  }}') {
    const failures = [...played.failures].map(([id, message]) => `${id}: ${message}`).join('; ');
    return { verdict: 'does not run', detail: failures };
  }
  const value = renderJson(output.json, played.values);
  const items = Array.isArray(value) && output.isList ? value.flat() : [itemOf(value)].flat();
  if (isDeepStrictEqual(withoutUndefined(items), withoutUndefined(expected))) return { verdict: 'agrees', detail: '' };
  const detail = `${JSON.stringify(items).slice(0, 1500)}\n      not ${JSON.stringify(expected).slice(0, 1500)}`;
  const isWarned = warnings.length > 0;
  return { verdict: isWarned ? 'warned' : 'differs silently', detail: `${detail} ${warnings.join(' | ')}` };
}

/** Returns the item or items for the answer of a server. A text is parsed as JSON, or becomes the field `data`. */
function itemOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return { data: value };
  }
}

function jsonOf(item: unknown): unknown {
  return isObject(item) && isObject(item['json']) ? item['json'] : item;
}

function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
