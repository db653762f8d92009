// Warnings of a drawing that can run: probable mistakes.
import { dataWithoutToolFacts } from './actions/check-actions.js';
import { chosenNode, writersOf } from './answer-node.js';
import type { Document, DrawnNode } from './document.js';
import { emptySidesIn } from './condition-schema.js';
import { CHAT_FIELDS, fieldIdsOf, inputFieldsOf, RAW_INPUT } from './input.js';
import { isObject, ownValue, type JsonObject } from './json.js';
import { traitsOf } from './kinds.js';
import { exitsOf, groupEdges, linksInData, linksInEdges, type EdgesBySource, type RawLink } from './links.js';
import { credentialHeadersOf, credentialValuesOf } from './literal-credentials.js';
import { commonSettingsOf } from './nodes/every-node.js';
import type { NodeDefinition } from './nodes/node-definition.js';
import { nodeDefinitions } from './nodes/registry.js';
import { outlastsRun, waitsForCallback } from './nodes/wait.js';
import { enclosingLoops, ERROR_HANDLE, leavesAtTimeout, type Plan } from './plan.js';
import { findExpressions, type Variable } from './template.js';
import { cutText } from './cut-text.js';
import type { PathPart } from './variable.js';

export interface Warning {
  node_id: string;
  code:
    | 'answer_node'
    | 'dead_end'
    | 'dead_setting'
    | 'empty_condition'
    | 'links_disagree'
    | 'literal_credential'
    | 'literal_variable'
    | 'lost_secret'
    | 'outlasts_run'
    | 'unknown_variable'
    | 'unlinked_error'
    | 'unreachable_node'
    | 'unused_message';
  message: string;
  /** The path inside the node's data. Absent from warnings about the whole node, and from some about a field. */
  path?: string;
}

// Equals the limit on structural errors: enough for any person, and a bound for hostile drawings.
const MAX_FINDINGS = 1000;

/**
 * Returns the warnings of a drawing that can run: first those of the whole drawing, then those of its nodes in their
 * order. `runDays`: the limit on a run's duration. `isChat`: the workflow is offered as a chat, whose messages bring
 * fields of their own.
 */
export function findWarnings(
  data: unknown,
  document: Document,
  plan: Plan,
  runDays: number,
  isChat = false,
): Warning[] {
  const edges = groupEdges(isObject(data) ? data['edges'] : undefined);
  const isKnown = createVariableTest(data, document, plan, isChat);
  const reachable = new Set(plan.ids);
  const warnings = findWrongAnswerNode(data, document, plan);
  if (isChat) warnings.push(...findUnusedMessage(document, plan));
  for (const node of document.nodes) {
    const { id } = node;
    if (!reachable.has(id)) {
      const message = 'The node is not linked to the start node and does not run.';
      warnings.push({ node_id: id, code: 'unreachable_node', message });
    }
    if (edges.size > 0 && linksDisagree(node, edges)) {
      const message = "The node's own links and the drawn edges disagree; its own links are what runs.";
      warnings.push({ node_id: id, code: 'links_disagree', message });
    }
    if (reachable.has(id)) {
      warnings.push(...findDeadSettings(node), ...findUnknownVariables(node, isKnown));
      warnings.push(...findDeadEnd(node), ...findLiteralVariables(node, isKnown), ...findOutlasting(node, runDays));
      warnings.push(...findEmptyConditions(node));
    }
    warnings.push(...findLiteralCredentials(node));
    if (warnings.length >= MAX_FINDINGS) break;
  }
  return warnings.slice(0, MAX_FINDINGS);
}

function findWrongAnswerNode(data: unknown, { startNode }: Document, plan: Plan): Warning[] {
  const chosen = chosenNode(data);
  if (chosen === undefined || writersOf(plan).includes(chosen)) return [];
  const message = '`settings.answer_node` is no model or agent node outside loops: it changes nothing.';
  return [{ node_id: startNode, code: 'answer_node', message }];
}

/** The fields of a chat's input that hold what the person has written. */
const WRITTEN: readonly unknown[] = ['message', 'messages'];

function findUnusedMessage({ nodes, startNode }: Document, plan: Plan): Warning[] {
  const running = new Set(plan.ids);
  const trigger = plan.kinds[0] === 'trigger' ? startNode : undefined;
  const isUse = (variable: Variable | undefined): boolean => {
    if (variable?.source === 'input') return isPartOf(variable.path, WRITTEN);
    // The content of a trigger is its whole input.
    return (
      variable?.source === 'node' && variable.nodeId === trigger && isPartOf(variable.path, [...WRITTEN, 'content'])
    );
  };
  for (const node of nodes) {
    for (const field of running.has(node.id) ? filledFieldsOf(node) : []) {
      for (const { variable } of findExpressions(node.data[field])) if (isUse(variable)) return [];
    }
  }
  const message =
    'The workflow is a chat, and nothing uses {{ input.message }} or {{ input.messages }}: what is written changes nothing.';
  return [{ node_id: startNode, code: 'unused_message', message }];
}

/** True if the path leads into one of the fields, or is empty and thus names the whole value. */
function isPartOf([field]: readonly unknown[], fields: readonly unknown[]): boolean {
  return field === undefined || fields.includes(field);
}

function findEmptyConditions({ id, kind, data }: DrawnNode): Warning[] {
  const { conditionPlaces = [] }: NodeDefinition = nodeDefinitions[kind];
  const warnings: Warning[] = [];
  for (const { path: place, value } of conditionPlaces.flatMap((each) => valuesAt(data, each))) {
    for (const path of emptySidesIn(value, place)) {
      if (warnings.length >= MAX_FINDINGS) return warnings;
      const side = path.endsWith('.left') ? 'left' : 'right';
      const message = `The ${side} side of the condition is empty.`;
      warnings.push({ node_id: id, code: 'empty_condition', message, path });
    }
  }
  return warnings;
}

/** Returns the values at a place such as `cases.*.condition`. */
function valuesAt(data: unknown, place: string): { path: string; value: unknown }[] {
  return place.split('.').reduce(
    (found: { path: string; value: unknown }[], part) =>
      found.flatMap(({ path, value }) => {
        if (part !== '*') return [{ path: path === '' ? part : `${path}.${part}`, value: ownValue(value, part) }];
        return Array.isArray(value) ? value.map((item, index) => ({ path: `${path}.${index}`, value: item })) : [];
      }),
    [{ path: '', value: data }],
  );
}

/** Finds settings that have no effect on this node. */
function findDeadSettings({ id, kind, data, links }: DrawnNode): Warning[] {
  const messages: string[] = [];
  const { onError } = commonSettingsOf(data);
  const { runs } = traitsOf(kind);
  if (isObject(data['retry']) && (runs === 'inline' || runs === 'wait' || runs === 'body')) {
    messages.push('`retry` changes nothing: a node of this kind calls nobody, and is not attempted again.');
  }
  if (kind === 'wait' && hasTarget(data['timeout_node']) && !waitsForCallback(kind, data)) {
    messages.push('`timeout_node` is never taken: `mode` is not "callback".');
  }
  if (onError === 'branch' && !links.some(({ handle }) => handle === ERROR_HANDLE)) {
    messages.push('`on_error` is "branch", and no error link leads on: the way ends there after a failure.');
  }
  if (onError !== 'branch' && hasTarget(data['error_node'])) {
    messages.push('`error_node` is never taken: `on_error` is not "branch".');
  }
  return messages.map((message) => ({ node_id: id, code: 'dead_setting', message }));
}

/** Includes headers whose credential comes from variables. */
function findLiteralCredentials({ id, kind, data }: DrawnNode): Warning[] {
  const drawing = { nodes: [{ id, type: nodeDefinitions[kind].type, data }] };
  const headers = credentialHeadersOf(drawing).map(({ path }) => `header "${toShown(path)}"`);
  return [...headers, ...credentialValuesOf(drawing).map((path) => `field "${toShown(path)}"`)].map((what) => ({
    node_id: id,
    code: 'literal_credential',
    message: `The ${what} looks like a credential: name a connection of the project instead.`,
  }));
}

/** A kind that has only named handles has no ordinary link that could be taken after a failure. */
function findDeadEnd({ id, kind, data }: DrawnNode): Warning[] {
  if (commonSettingsOf(data).onError !== 'continue' || exitsOf(kind, data).some(({ handle }) => handle === 0))
    return [];
  const message =
    '`on_error` is "continue", and a node of this kind has no ordinary links: its way ends after a failure.';
  return [{ node_id: id, code: 'dead_end', message }];
}

function findOutlasting({ id, kind, data }: DrawnNode, runDays: number): Warning[] {
  if (!outlastsRun(kind, data, runDays)) return [];
  const message = `A run ends ${runDays} days after its start, and this wait may last as long: the run then fails.`;
  return [{ node_id: id, code: 'outlasts_run', message }];
}

function hasTarget(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/**
 * True if a node's data and its drawn edges disagree. An edge that belongs to no exit of the node is never executed, so
 * it counts as a disagreement.
 */
function linksDisagree({ id, kind, data }: DrawnNode, edges: EdgesBySource): boolean {
  const drawn = edges.get(id) ?? [];
  const exits = exitsOf(kind, data);
  const drawnOf = exits.map((exit) => linksInEdges(exit, exits, drawn));
  if (drawnOf.flat().length !== drawn.length) return true;
  return exits.some((exit, index) => {
    const own = linksInData(exit);
    return own !== undefined && !haveSameTargets(own, drawnOf[index] ?? []);
  });
}

function haveSameTargets(left: readonly RawLink[], right: readonly RawLink[]): boolean {
  const lefts = new Set(left.map(({ to }) => to));
  const rights = new Set(right.map(({ to }) => to));
  return lefts.size === rights.size && [...lefts].every((to) => rights.has(to));
}

/** Returns the reason why a variable is probably a mistake, or undefined. */
type VariableTest = (
  variable: Variable | undefined,
  nodeId: string,
  /** True if the field is filled in within each iteration of the loop, so it may name any node of the body. */
  isInIteration?: boolean,
) => string | undefined;

function findUnknownVariables(node: DrawnNode, test: VariableTest): Warning[] {
  const warnings = new Map<string, Warning>();
  const { iterationFields = [] }: NodeDefinition = nodeDefinitions[node.kind];
  // The facts of an action are the text of a document, in which no variable is filled in.
  const data = dataWithoutToolFacts(node.data);
  for (const field of filledFieldsOf(node)) {
    for (const { expression, variable } of findExpressions(data[field])) {
      const reason = test(variable, node.id, iterationFields.includes(field));
      if (reason === undefined || warnings.size >= MAX_FINDINGS) continue;
      const message = `The variable {{ ${toShown(expression)} }} is not known: ${reason}.`;
      warnings.set(message, { node_id: node.id, code: 'unknown_variable', message });
    }
  }
  return [...warnings.values()];
}

function filledFieldsOf({ kind }: DrawnNode): string[] {
  const { templateFields, iterationFields = [] }: NodeDefinition = nodeDefinitions[kind];
  return [...templateFields, ...iterationFields];
}

/** Finds known variables in fields that are not filled in. Unknown ones may be ordinary text there. */
function findLiteralVariables(node: DrawnNode, test: VariableTest): Warning[] {
  const { literalFields = [] }: NodeDefinition = nodeDefinitions[node.kind];
  const warnings = new Map<string, Warning>();
  for (const field of literalFields) {
    for (const { expression, variable } of findExpressions(node.data[field])) {
      if (variable === undefined || test(variable, node.id) !== undefined || warnings.size >= MAX_FINDINGS) continue;
      const message = `The variable {{ ${toShown(expression)} }} is not filled in in "${field}", where it is text.`;
      warnings.set(message, { node_id: node.id, code: 'literal_variable', message });
    }
  }
  return [...warnings.values()];
}

function toShown(expression: string): string {
  const text = expression.trim();
  return text.length > 100 ? `${cutText(text, 100)}...` : text;
}

function createVariableTest(data: unknown, document: Document, plan: Plan, isChat: boolean): VariableTest {
  const inputReason = createInputTest(data, isChat);
  const isTrigger = plan.kinds[0] === 'trigger';
  const nodeIds = new Set(document.nodes.map(({ id }) => id));
  const waiting = document.nodes.filter(({ kind, data: given }) => waitsForCallback(kind, given));
  const callbacks = new Set(waiting.map(({ id }) => id));
  const survived = (_: string, node: number): boolean =>
    plan.caught?.[node] !== undefined || leavesAtTimeout(plan, node);
  const caught = new Set(plan.ids.filter(survived));
  const isUpstream: UpstreamTest = createUpstreamTest(plan);
  const loopReason = createLoopTest(plan);
  const isInItsLoops = createEnclosedTest(plan);
  const fieldReason = createFieldTest(document);
  return (variable, nodeId, isInIteration = false) => {
    if (!variable) return 'it is not a variable';
    if (variable.source === 'input') return inputReason(variable.path[0]);
    if (!nodeIds.has(variable.nodeId)) return 'there is no such node';
    if (isInIteration) return undefined;
    if (variable.source === 'loop') return loopReason(variable.nodeId, variable.path[0], nodeId);
    if (variable.source === 'callback') {
      if (!callbacks.has(variable.nodeId)) return NO_CALLBACK;
      return isInItsLoops(variable.nodeId, nodeId) ? undefined : 'that node waits in the body of a loop';
    }
    if (!isUpstream(variable.nodeId, nodeId)) return 'that node does not run before this one';
    // The fields of the input stand beside the content of a trigger.
    const isOfInput = variable.source === 'node' && isTrigger && variable.nodeId === document.startNode;
    if (isOfInput && variable.path[0] !== 'content') return inputReason(variable.path[0]);
    const missing = variable.source === 'node' ? fieldReason(variable.nodeId, variable.path) : undefined;
    if (missing !== undefined) return missing;
    const isFatal = variable.source === 'error' && !caught.has(variable.nodeId);
    return isFatal ? 'the run does not go on after a failure of that node (on_error)' : undefined;
  };
}

const NO_CALLBACK = 'that node does not wait for a callback';

/** Returns the reason why a node cannot read `item`, `index` or `last` of a loop, or undefined if it can. */
function createLoopTest(plan: Plan): (loopId: string, field: unknown, nodeId: string) => string | undefined {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  const around = enclosingLoops(plan);
  return (loopId, field, nodeId) => {
    const loop = numbers.get(loopId);
    const node = numbers.get(nodeId);
    if (loop === undefined || node === undefined || !around[node]!.includes(loop)) {
      return 'this node is not in the body of that loop';
    }
    const isKnown = field === 'index' || field === (plan.kinds[loop] === 'for_each' ? 'item' : 'last');
    return isKnown ? undefined : `that loop has no ${String(field)}`;
  };
}

/** True if every body that contains `otherId` also contains `nodeId`. */
function createEnclosedTest(plan: Plan): (otherId: string, nodeId: string) => boolean {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  const around = enclosingLoops(plan);
  const loopsOf = (id: string): readonly number[] => around[numbers.get(id) ?? -1] ?? [];
  return (otherId, nodeId) => loopsOf(otherId).every((loop) => loopsOf(nodeId).includes(loop));
}

/** Tests the names that a node declares itself: the fields of a task, and the keys of a value written as an object. */
function createFieldTest(document: Document): (nodeId: string, path: readonly PathPart[]) => string | undefined {
  const tasks = new Map<string, Set<string>>();
  const values = new Map<string, JsonObject>();
  for (const { id, kind, data } of document.nodes) {
    if (kind === 'human' && Array.isArray(data['fields'])) tasks.set(id, fieldIdsOf(data['fields'].filter(isObject)));
    if (kind === 'set' && isObject(data['value'])) values.set(id, data['value']);
  }
  return (nodeId, [first, name]) => {
    if (typeof name !== 'string') return undefined;
    const [fields, value] = [tasks.get(nodeId), values.get(nodeId)];
    const isField = fields === undefined || fields.size === 0 || fields.has(name);
    if (first === 'values' && !isField) return 'that task has no such field';
    const isKey = value === undefined || Object.hasOwn(value, name);
    return first === 'value' && !isKey ? 'the value of that node has no such key' : undefined;
  };
}

/** A trigger without declared fields accepts any input, so no input field is unknown. */
function createInputTest(data: unknown, isChat: boolean): (field: string | number | undefined) => string | undefined {
  const declared = fieldIdsOf(inputFieldsOf(data));
  const known = new Set<string>([...declared, RAW_INPUT, ...(isChat ? CHAT_FIELDS : [])]);
  return (field) => {
    if (declared.size === 0 || typeof field !== 'string' || known.has(field)) return undefined;
    return 'the trigger has no such input field';
  };
}

/** True if links lead from node `before` to node `id`. */
type UpstreamTest = (before: string, id: string) => boolean;

/** Each node has one row of bits; 5,000 nodes need 3 MB. The first call fills all rows in one pass over the edges. */
function createUpstreamTest(plan: Plan): UpstreamTest {
  const numbers = new Map(plan.ids.map((id, number) => [id, number]));
  let rows: Uint32Array[] | undefined;
  return (before, id) => {
    const from = numbers.get(before);
    const to = numbers.get(id);
    if (from === undefined || to === undefined) return false;
    rows ??= ancestorsOf(plan);
    return (((rows[to]?.[from >>> 5] ?? 0) >>> (from & 31)) & 1) === 1;
  };
}

function ancestorsOf(plan: Plan): Uint32Array[] {
  const width = Math.ceil(plan.ids.length / 32);
  const rows = plan.ids.map(() => new Uint32Array(width));
  const open = [...plan.indegree];
  const decided = [0];
  // The list grows while it is iterated: a node is appended once all its predecessors are done.
  for (const from of decided) {
    const source = rows[from];
    for (const [to] of plan.out[from] ?? []) {
      const target = rows[to];
      if (!source || !target) continue;
      for (let word = 0; word < width; word += 1) target[word] = (target[word] ?? 0) | (source[word] ?? 0);
      target[from >>> 5] = (target[from >>> 5] ?? 0) | (1 << (from & 31));
      const left = (open[to] ?? 0) - 1;
      open[to] = left;
      if (left === 0) decided.push(to);
    }
  }
  return rows;
}
