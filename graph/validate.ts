// The field errors of a drawing that compiles.
import { actionErrors, dataWithoutToolFacts } from './actions/check-actions.js';
import { withCheckBudget } from './check-budget.js';
import type { Document, DrawnNode } from './document.js';
import { MAX_SECRET_CHARACTERS } from './input.js';
import { toFieldMessage } from './nodes/field-messages.js';
import { nodeDefinitions, schemaFor } from './nodes/registry.js';
import { lastNodesOf, type Plan } from './plan.js';
import { holdsMoreThan, ownValue, setOwn } from './json.js';
import { secretStrings, splitSecrets } from './secrets.js';

/** The errors by node id: one `{path inside node data: message}` for every wrong field. */
export type NodeErrors = Record<string, Record<string, string>[]>;

// Equals the limit on structural errors: enough for any person, and a bound for hostile drawings.
const MAX_FINDINGS = 1000;
// zod collects every issue before it returns any, so it must not get a list with millions of errors.
const MAX_VALUES = 20_000;
/** Fields that may hold any JSON; zod doesn't search them for errors. */
const ANY_JSON = new Set(['body', 'items', 'output', 'value', 'values']);
// Each error takes some microseconds, and a drawing can have a million. After this number the rest is not checked.
const MAX_MISTAKES = 20_000;

/**
 * Returns the field errors of the nodes that the start node reaches, at most `MAX_FINDINGS` for each node, and stops
 * after the node with which the errors reach `MAX_MISTAKES`. Adds an error at any node, reached or not, if the secrets
 * of the drawing are too long together.
 */
export function validateNodes(document: Document, plan: Plan): NodeErrors {
  return withCheckBudget(() => validateWithinBudget(document, plan));
}

function validateWithinBudget(document: Document, plan: Plan): NodeErrors {
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const errors: [id: string, found: Record<string, string>[]][] = [];
  let mistakes = 0;
  for (const [number, id] of plan.ids.entries()) {
    const node = nodes.get(id);
    const found = node ? [...validateNode(node), ...validateBody(node, plan, number)] : [];
    if (found.length > 0) errors.push([id, found.slice(0, MAX_FINDINGS)]);
    mistakes += found.length;
    if (mistakes >= MAX_MISTAKES) break;
  }
  return withSecretsError(Object.fromEntries(errors), document);
}

/**
 * Returns the field errors of the nodes that the start node does not reach, up to `MAX_FINDINGS`. Errors that depend on
 * links are not among them.
 */
export function validateUnlinked(document: Document, plan: Plan): NodeErrors {
  const running = new Set(plan.ids);
  const errors: NodeErrors = {};
  let left = MAX_FINDINGS;
  for (const node of document.nodes) {
    if (running.has(node.id)) continue;
    const found = validateNode(node).slice(0, left);
    if (found.length > 0) setOwn(errors, node.id, found);
    left -= found.length;
    if (left <= 0) break;
  }
  return errors;
}

/** Merges the errors by node; for each node, those of `left` come first. */
export function mergeErrors(left: NodeErrors, right: NodeErrors): NodeErrors {
  const merged = new Map(Object.entries(left));
  for (const [id, errors] of Object.entries(right)) merged.set(id, [...(merged.get(id) ?? []), ...errors]);
  return Object.fromEntries(merged);
}

/**
 * Adds an error if the secrets of the drawing exceed their common limit. All results of a run are searched for all
 * secrets of its drawing, including those of unreachable nodes, so all nodes count.
 */
function withSecretsError(errors: NodeErrors, document: Document): NodeErrors {
  let characters = 0;
  for (const { id, kind, data } of document.nodes) {
    const { secrets } = splitSecrets({ nodes: [{ id, type: nodeDefinitions[kind].type, data }] });
    for (const text of Object.values(secrets).flatMap(secretStrings)) characters += text.length;
    if (characters <= MAX_SECRET_CHARACTERS) continue;
    const message = `Secrets of a workflow should have at most ${MAX_SECRET_CHARACTERS} characters in total`;
    const field = ['headers', 'tools', 'values'].find((key) => Object.hasOwn(data, key)) ?? 'input_fields';
    return { ...errors, [id]: [...(Object.hasOwn(errors, id) ? errors[id]! : []), { [field]: message }] };
  }
  return errors;
}

function validateNode(node: DrawnNode): Record<string, string>[] {
  const data = dataWithoutToolFacts(node.data);
  const schema = schemaFor(node.kind, data);
  const tooLarge = Object.keys(schema.shape).filter(
    (field) => !ANY_JSON.has(field) && holdsMoreThan(data[field], MAX_VALUES),
  );
  if (tooLarge.length > 0)
    return tooLarge.map((field) => ({ [field]: `Input should hold at most ${MAX_VALUES} values` }));
  const parsed = schema.safeParse(data, { error: toFieldMessage });
  const issues = parsed.success ? [] : parsed.error.issues;
  const errors = issues.map(({ path, message }) => ({ [path.map(String).join('.')]: message }));
  return [...errors, ...actionErrors(node.kind, node.data)];
}

/**
 * If the loop has no `output`, the output of an iteration is that of the body's last node, so there must be exactly
 * one.
 */
function validateBody({ data }: DrawnNode, plan: Plan, number: number): Record<string, string>[] {
  if (plan.bodies?.[number] === undefined || ownValue(data, 'output') !== undefined) return [];
  const lasts = lastNodesOf(plan, number).length;
  if (lasts === 1) return [];
  const why = lasts === 0 ? 'the loop has no body' : `the body has ${lasts} last nodes`;
  return [{ output: `Field required, because ${why}` }];
}
