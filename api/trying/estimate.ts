// What a test would call, and the most that it would reserve for that. Extensions, section 11.
import { Decimal } from 'decimal.js';
import { priceOf, reservedTokens } from '../../config/model-price.js';
import { findModel, type ModelProviders } from '../../config/model-providers.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { traitsOf, type NodeKind } from '../../graph/kinds.js';
import { rootPlan } from '../../graph/plan.js';
import { renderJson, type VariableValues } from '../../graph/template.js';
import type { OpenedTest } from './start-test.js';

interface Call {
  nodeId: string;
  kind: NodeKind;
  data: JsonObject;
  hasSideEffects: boolean;
}

/** These methods change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns the executed nodes that leave the process. `loops`: the ids of those in bodies, which are executed repeatedly. */
export function callsOf({ planned, drawing }: OpenedTest): { calls: Call[]; loops: Set<string> } {
  const { plan, executed } = planned;
  const outside = rootPlan(plan).ids.length;
  const nodes = new Map(
    (drawing['nodes'] as { id: string; data?: JsonObject }[]).map((node) => [node.id, node.data ?? {}]),
  );
  const calls = plan.ids.flatMap((nodeId, number): Call[] => {
    const kind = plan.kinds[number]!;
    const { runs } = traitsOf(kind);
    const leaves = runs === 'activity' || runs === 'loop' || kind === 'workflow';
    if (!leaves || !executed.has(nodeId)) return [];
    const data = nodes.get(nodeId) ?? {};
    return [{ nodeId, kind, data, hasSideEffects: hasSideEffects(kind, data) }];
  });
  return { calls, loops: new Set(plan.ids.slice(outside)) };
}

/** Returns whether a call of the node may change something elsewhere. */
export function hasSideEffects(kind: NodeKind, data: JsonObject): boolean {
  if (kind === 'http') {
    const { method = 'GET' } = data;
    // A method that is a variable is known only when the node runs.
    return typeof method !== 'string' || !READING.has(method.toUpperCase());
  }
  if (kind === 'agent') return Array.isArray(data['tools']) && data['tools'].length > 0;
  return kind === 'mcp' || kind === 'workflow';
}

/** Returns the most that the calls reserve in USD; null where no bound is known. */
export function reservedFor(models: ModelProviders, calls: readonly Call[], loops: ReadonlySet<string>): string | null {
  let sum = new Decimal(0);
  for (const { nodeId, kind, data } of calls) {
    if (kind !== 'llm' && kind !== 'agent' && kind !== 'workflow') continue;
    const bound = kind === 'llm' ? priceOfCall(models, data) : kind === 'agent' ? maxCostOf(data) : null;
    if (bound === null || loops.has(nodeId)) return null;
    sum = sum.plus(bound);
  }
  return sum.toFixed();
}

const NOTHING: VariableValues = { input: {}, results: new Map() };

/** Null for a model that nobody serves: the call would not be made, and nobody knows its price. */
function priceOfCall(models: ModelProviders, data: JsonObject): string | null {
  const rendered = renderJson(data, NOTHING) as JsonObject;
  const settings = isObject(rendered['settings']) ? rendered['settings'] : {};
  const { model_name: name } = settings;
  const model = typeof name === 'string' ? findModel(models, name) : undefined;
  if (model === undefined) return null;
  return priceOf(reservedTokens(JSON.stringify(rendered).length, settings), model);
}

/** An agent makes as many calls as its limit of money allows. */
function maxCostOf({ settings }: JsonObject): string | null {
  const limit = isObject(settings) ? settings['max_cost'] : undefined;
  if (typeof limit !== 'string' && typeof limit !== 'number') return null;
  return /^\d{1,12}(\.\d{1,18})?$/.test(String(limit)) ? String(limit) : null;
}
