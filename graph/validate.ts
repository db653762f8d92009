// Field errors and warnings of a drawing that compiles.
import type { Document, DrawnNode } from './document.js';
import { fieldIdsOf, inputFieldsOf, MAX_SECRET_CHARACTERS } from './input.js';
import { holdsMoreThan, isObject } from './json.js';
import { groupEdges, handlesOf, linksInData, linksInEdges, type EdgesBySource, type RawLink } from './links.js';
import { toFieldMessage } from './nodes/field-messages.js';
import type { NodeDefinition } from './nodes/node-definition.js';
import { nodeDefinitions } from './nodes/registry.js';
import type { Plan } from './plan.js';
import { secretStrings, splitSecrets } from './secrets.js';
import { findExpressions, type Variable } from './template.js';
import { createUpstreamTest, type UpstreamTest } from './upstream.js';

/** By node id: one `{path inside node data: message}` for every wrong field. */
export type NodeErrors = Record<string, Record<string, string>[]>;

export interface Warning {
  node_id: string;
  code: 'links_disagree' | 'literal_variable' | 'lost_secret' | 'unknown_variable' | 'unreachable_node';
  message: string;
}

// The same limit as for structural errors: enough for any person, and a bound for hostile drawings.
const MAX_FINDINGS = 1000;
// zod collects every issue before it returns any, so a list of millions of errors must not reach it. `body` is any
// JSON.
const MAX_VALUES = 20_000;
// Each error takes some microseconds, and a drawing can have a million. After this number the rest is not checked.
const MAX_MISTAKES = 20_000;

/**
 * Returns every field error of the nodes that the start node reaches, up to MAX_MISTAKES; an empty object when there is
 * none.
 */
export function validateNodes(document: Document, plan: Plan): NodeErrors {
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const errors: [id: string, found: Record<string, string>[]][] = [];
  let mistakes = 0;
  for (const id of plan.ids) {
    const node = nodes.get(id);
    const found = node ? validateNode(node) : [];
    if (found.length > 0) errors.push([id, found.slice(0, MAX_FINDINGS)]);
    mistakes += found.length;
    if (mistakes >= MAX_MISTAKES) break;
  }
  return withSecretsError(Object.fromEntries(errors), document);
}

/** Merges the errors of both. For each node, those of `left` come first. */
export function mergeErrors(left: NodeErrors, right: NodeErrors): NodeErrors {
  const merged = new Map(Object.entries(left));
  for (const [id, errors] of Object.entries(right)) merged.set(id, [...(merged.get(id) ?? []), ...errors]);
  return Object.fromEntries(merged);
}

/**
 * All results of a run are searched for all secrets of its drawing, including those of unreachable nodes. As for
 * inputs, the secrets have a common limit.
 */
function withSecretsError(errors: NodeErrors, document: Document): NodeErrors {
  let characters = 0;
  for (const { id, kind, data } of document.nodes) {
    const { secrets } = splitSecrets({ nodes: [{ id, type: nodeDefinitions[kind].type, data }] });
    for (const text of Object.values(secrets).flatMap(secretStrings)) characters += text.length;
    if (characters <= MAX_SECRET_CHARACTERS) continue;
    const message = `Secrets of a workflow should have at most ${MAX_SECRET_CHARACTERS} characters in total`;
    const field = ['headers', 'tools'].find((key) => Object.hasOwn(data, key)) ?? 'input_fields';
    return { ...errors, [id]: [...(Object.hasOwn(errors, id) ? errors[id]! : []), { [field]: message }] };
  }
  return errors;
}

function validateNode(node: DrawnNode): Record<string, string>[] {
  const { schema } = nodeDefinitions[node.kind];
  const tooLarge = Object.keys(schema.shape).filter(
    (field) => field !== 'body' && holdsMoreThan(node.data[field], MAX_VALUES),
  );
  if (tooLarge.length > 0)
    return tooLarge.map((field) => ({ [field]: `Input should hold at most ${MAX_VALUES} values` }));
  const parsed = schema.safeParse(node.data, { error: toFieldMessage });
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => ({ [path.map(String).join('.')]: message }));
}

/** Returns the warnings of a drawing that can run, in the order of its nodes. */
export function findWarnings(data: unknown, document: Document, plan: Plan): Warning[] {
  const edges = groupEdges(isObject(data) ? data['edges'] : undefined);
  const isKnown = createVariableTest(data, document, plan);
  const reachable = new Set(plan.ids);
  const warnings: Warning[] = [];
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
    if (reachable.has(id))
      warnings.push(...findUnknownVariables(node, isKnown), ...findLiteralVariables(node, isKnown));
    if (warnings.length >= MAX_FINDINGS) break;
  }
  return warnings.slice(0, MAX_FINDINGS);
}

/**
 * Returns whether a node's data and its drawn edges disagree. An edge whose handle the kind does not have is never
 * executed, so it counts as a disagreement.
 */
function linksDisagree({ id, kind, data }: DrawnNode, edges: EdgesBySource): boolean {
  const drawn = edges.get(id) ?? [];
  const handles = handlesOf(kind);
  const ofHandles = handles.map((handle) => linksInEdges(kind, drawn, handle));
  if (ofHandles.flat().length !== drawn.length) return true;
  return handles.some((handle, index) => {
    const own = linksInData(kind, data, handle);
    return own !== undefined && !haveSameTargets(own, ofHandles[index] ?? []);
  });
}

function haveSameTargets(left: readonly RawLink[], right: readonly RawLink[]): boolean {
  const lefts = new Set(left.map(({ to }) => to));
  const rights = new Set(right.map(({ to }) => to));
  return lefts.size === rights.size && [...lefts].every((to) => rights.has(to));
}

/** Returns why a variable is probably a mistake; undefined where it is not. */
type VariableTest = (variable: Variable | undefined, nodeId: string) => string | undefined;

function findUnknownVariables(node: DrawnNode, test: VariableTest): Warning[] {
  const warnings = new Map<string, Warning>();
  for (const field of nodeDefinitions[node.kind].templateFields) {
    for (const { expression, variable } of findExpressions(node.data[field])) {
      const reason = test(variable, node.id);
      if (reason === undefined || warnings.size >= MAX_FINDINGS) continue;
      const message = `The variable {{ ${toShown(expression)} }} is not known: ${reason}.`;
      warnings.set(message, { node_id: node.id, code: 'unknown_variable', message });
    }
  }
  return [...warnings.values()];
}

/** Finds known variables where none is filled in. What is no variable there may well be a part of the field's text. */
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
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

function createVariableTest(data: unknown, document: Document, plan: Plan): VariableTest {
  const fieldIds = fieldIdsOf(inputFieldsOf(data));
  const nodeIds = new Set(document.nodes.map(({ id }) => id));
  const isUpstream: UpstreamTest = createUpstreamTest(plan);
  return (variable, nodeId) => {
    if (!variable) return 'it is not a variable';
    if (variable.source === 'input') return inputReason(fieldIds, variable.path[0]);
    if (!nodeIds.has(variable.nodeId)) return 'there is no such node';
    return isUpstream(variable.nodeId, nodeId) ? undefined : 'that node does not run before this one';
  };
}

/** A trigger without declared fields accepts any input, so no field of it is unknown. */
function inputReason(fieldIds: ReadonlySet<string>, field: string | number | undefined): string | undefined {
  if (fieldIds.size === 0 || field === undefined || typeof field === 'number' || field === '__raw_input__')
    return undefined;
  return fieldIds.has(field) ? undefined : 'the trigger has no such input field';
}
