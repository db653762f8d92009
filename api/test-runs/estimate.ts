// Estimates the calls of a test, and the most that they would reserve, from templates rendered with the input and the
// known results. An unknown variable counts as empty (docs/use/test-runs.md, "What a test would cost").
import { Decimal } from 'decimal.js';
import { sumOf } from '../../config/currencies.js';
import { priceOf, reservedTokens, tokensIn } from '../../config/model-price.js';
import { findModel, type ResolvedModel } from '../../config/model-providers.js';
import type { RunInput } from '../../graph/input.js';
import { actionOfTool, readAction } from '../../graph/actions/action.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { writeJson } from '../../graph/json-text.js';
import { traitsOf, type NodeKind } from '../../graph/kinds.js';
import { modelParameters } from '../../graph/model-parameters.js';
import { NodeError } from '../../graph/node-error.js';
import { enclosingLoops } from '../../graph/plan.js';
import { renderText, type VariableValues } from '../../graph/template.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { InTurn } from '../http/heavy-work.js';
import type { TestDeps } from './deps.js';
import { charactersAddedBy, createWeighing, namedFileIds, UnknownFileError } from './estimated-files.js';
import { inputOfTest, type OpenedTest } from './start-test.js';
import { readTestValues } from './test-values.js';

interface Call {
  nodeId: string;
  kind: NodeKind;
  data: JsonObject;
  /** True if a loop around the node executes all its iterations, whose number is unknown. */
  isRepeated: boolean;
}

interface Estimate {
  calls: (Pick<Call, 'nodeId' | 'kind'> & { hasSideEffects: boolean })[];
  /** USD; null if no bound is known. */
  reserved: string | null;
}

interface Asked {
  userId: number;
  input: RunInput | undefined;
  memory: ByteLease;
  inTurn: InTurn;
  signal: AbortSignal;
}

/** The words around the problem and the schema in a correction, and a problem of usual length. */
const CORRECTION_CHARACTERS = 1_000;

/** A model call. Its counts leave out the contents of its files. */
interface ModelCall {
  model: ResolvedModel;
  /** The length of the request. */
  characters: number;
  /** The tokens of the answer. */
  output: number;
  /** The length of the correction in a second call, which is made if the first answer does not fit its format. */
  correction: number | undefined;
  /** The ids of the files of each message. */
  files: string[][];
}

export async function estimateTest(deps: TestDeps, opened: OpenedTest, asked: Asked): Promise<Estimate> {
  const found = callsOf(opened);
  const input = await inputOfTest(deps, asked, opened);
  const templates = found.map(({ data }) => data);
  const { planned, workflow } = opened;
  const values = await readTestValues(deps, { planned, input, templates, memory: asked.memory });
  const calls = found.map(({ nodeId, kind, data }) => {
    return { nodeId, kind, hasSideEffects: hasSideEffects(kind, withMethod(kind, data, values)) };
  });
  const modelCalls = found.map((call) => modelCallOrBound(deps, call, values));
  // The large work that reads the drawing is done: reading the files ends its turn in the queue for large work
  // (`endTurn`), after which only small work may follow without a turn of its own.
  const weigh = createWeighing(deps, { ...asked, projectId: workflow.project_id });
  const bounds: (string | null)[] = [];
  for (const call of modelCalls) {
    const isKnown = call === null || typeof call === 'string';
    bounds.push(isKnown ? call : await priceOfCall(call, weigh));
  }
  const known = bounds.filter((bound) => bound !== null);
  return { calls, reserved: known.length < bounds.length ? null : sumOf(known).toFixed() };
}

/** Returns the executed nodes that make requests or model calls, run code, or start sub-workflows. */
function callsOf({ planned, drawing }: OpenedTest): Call[] {
  const { plan, executed } = planned;
  const around = enclosingLoops(plan);
  const nodes = new Map(
    (drawing['nodes'] as { id: string; data?: JsonObject }[]).map((node) => [node.id, node.data ?? {}]),
  );
  return plan.ids.flatMap((nodeId, number): Call[] => {
    const kind = plan.kinds[number]!;
    const { runs } = traitsOf(kind);
    const leaves = runs === 'activity' || runs === 'loop' || kind === 'workflow';
    if (!leaves || !executed.has(nodeId)) return [];
    const isRepeated = around[number]!.some((loop) => plan.only?.[loop] === undefined);
    return [{ nodeId, kind, data: nodes.get(nodeId) ?? {}, isRepeated }];
  });
}

/** These methods change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True if a call of the node may change something elsewhere. */
export function hasSideEffects(kind: NodeKind, data: JsonObject): boolean {
  if (kind === 'http') {
    const facts = readAction(data['action'])?.facts;
    if (facts !== undefined) return facts.has_side_effects;
    const { method = 'GET' } = data;
    // A method that still contains a variable is unknown, and counts as one that may change something.
    return typeof method !== 'string' || !READING.has(method.toUpperCase());
  }
  if (kind === 'agent') return Array.isArray(data['tools']) && data['tools'].some((tool: unknown) => mayChange(tool));
  return kind === 'mcp' || kind === 'workflow';
}

/** Only an action states whether it has side effects; any other tool counts as one that may change something. */
function mayChange(tool: unknown): boolean {
  const facts = isObject(tool) ? readAction(actionOfTool(tool))?.facts : undefined;
  return facts?.has_side_effects ?? true;
}

function withMethod(kind: NodeKind, data: JsonObject, values: VariableValues): JsonObject {
  const { method } = data;
  return kind === 'http' && typeof method === 'string' ? { ...data, method: renderText(method, values).trim() } : data;
}

/** Returns the model call of the node, or the most that the node reserves in USD; null if no bound is known. */
function modelCallOrBound(
  { models }: TestDeps,
  { kind, data, isRepeated }: Call,
  values: VariableValues,
): ModelCall | string | null {
  if (kind !== 'llm' && kind !== 'agent' && kind !== 'workflow') return '0';
  if (isRepeated || kind === 'workflow') return null;
  if (kind === 'agent') return maxCostOf(data);
  try {
    return toModelCall(models, data, values);
  } catch (error) {
    // The node would fail before the call, or its files are too many or unknown.
    if (error instanceof NodeError || error instanceof UnknownFileError) return null;
    throw error;
  }
}

/** Null for a model without a provider: the call would not be made, and its price is unknown. */
function toModelCall(models: TestDeps['models'], data: JsonObject, values: VariableValues): ModelCall | null {
  const settings = isObject(data['settings']) ? data['settings'] : {};
  const { model_name: name } = settings;
  const modelName = typeof name === 'string' ? renderText(name, values) : '';
  const model = findModel(models, modelName);
  if (model === undefined) return null;
  const drawn = Array.isArray(data['messages']) ? data['messages'].filter(isObject) : [];
  const messages = drawn.map(({ role, message }) => {
    return { role, content: typeof message === 'string' ? renderText(message, values) : '' };
  });
  const parameters = modelParameters(settings, values);
  const characters = writeJson({ ...parameters, model: modelName, messages, stream: false }).length;
  const lengths = JSON.parse(writeJson(parameters)) as Parameters<typeof reservedTokens>[1];
  const { output } = reservedTokens(characters, lengths);
  const correction = lengthOfCorrection(parameters['response_format']);
  return { model, characters, output, correction, files: namedFileIds(drawn, values) };
}

/** Undefined for a format that every answer fits, and for one with which the node fails before its first call. */
function lengthOfCorrection(format: unknown): number | undefined {
  if (!isObject(format) || (format['type'] !== 'json_schema' && format['type'] !== 'json_object')) return undefined;
  // The correction contains the schema as a text, whose quotes are escaped in the request.
  return CORRECTION_CHARACTERS + writeJson(writeJson(format)).length;
}

/** Returns the price in USD; null if the content of a file cannot be determined now. */
async function priceOfCall(
  { model, characters, output, correction, files: ids }: ModelCall,
  weigh: ReturnType<typeof createWeighing>,
): Promise<string | null> {
  try {
    const files = await weigh(ids, model);
    const all = files.reduce((sum, ofMessage) => sum + charactersAddedBy(ofMessage), characters);
    const input = tokensIn(all) + files.flat().reduce((sum, file) => sum + file.tokens, 0);
    const first = priceOf({ input, output }, model);
    if (correction === undefined) return first;
    // The second call repeats the first one, followed by its answer and the correction.
    const second = priceOf({ input: input + output + tokensIn(correction), output }, model);
    return sumOf([first, second]).toFixed();
  } catch (error) {
    if (error instanceof UnknownFileError) return null;
    throw error;
  }
}

/** The upper bound of an agent is its limit of money, because the number of its calls is unknown. Null without one. */
function maxCostOf({ settings }: JsonObject): string | null {
  const limit = isObject(settings) ? settings['max_cost'] : undefined;
  if (typeof limit === 'number') return new Decimal(limit).toFixed();
  return typeof limit === 'string' && /^\d{1,12}(\.\d{1,18})?$/.test(limit) ? limit : null;
}
