// Reads the part of a drawing that is executed, and ignores fields of the visual editor (positions, styles, viewport).
import { isObject, ownValue, type JsonObject } from './json.js';
import type { NodeKind } from './kinds.js';
import { groupEdges, resolveLinks, type EdgesBySource, type Link } from './links.js';
import { kindOfType } from './nodes/registry.js';
import { cutText } from './cut-text.js';

export interface StructuralError {
  code: string;
  /** A sentence for the author of the drawing. */
  message: string;
  node_id?: string;
}

export interface DrawnNode {
  id: string;
  kind: NodeKind;
  label: string;
  data: JsonObject;
  /** The links that are executed (`links.ts`). */
  links: Link[];
}

export interface Document {
  startNode: string;
  /** All valid nodes in the order of the drawing, including those that the start node doesn't reach. */
  nodes: DrawnNode[];
}

export const MAX_NODES = 5000;
/** `MAX_NODES` nodes could have millions of links, and the work of test runs and resumptions grows with the links. */
const MAX_LINKS = 50_000;
// A bound for hostile drawings, which can have a hundred thousand errors. Nobody reads more than the first screens.
const MAX_ERRORS = 1000;
// Errors, events and database rows contain the id, so it must be short and valid in UTF-8 and in log lines.
const NODE_ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/**
 * Returns the valid part of the `data` of a workflow, and up to `MAX_ERRORS` structural errors of the rest.
 * `compilePlan` finds cycles and the errors of loops. Never throws.
 */
export function readDrawing(data: unknown): { document: Document; errors: StructuralError[] } {
  const errors: StructuralError[] = [];
  const empty = { startNode: '', nodes: [] };
  if (!isObject(data)) {
    return { document: empty, errors: [{ code: 'invalid_document', message: 'The workflow data is not an object.' }] };
  }
  const { nodes, edges, start_node: startNode } = data;
  if (!Array.isArray(nodes) || nodes.length === 0) {
    return { document: empty, errors: [{ code: 'no_nodes', message: 'The workflow has no nodes.' }] };
  }
  if (nodes.length > MAX_NODES) {
    const message = `The workflow has ${nodes.length} nodes; at most ${MAX_NODES} can run.`;
    return { document: empty, errors: [{ code: 'too_many_nodes', message }] };
  }
  if (edges !== undefined && edges !== null && !Array.isArray(edges)) {
    errors.push({ code: 'invalid_edges', message: 'The edges of the workflow are not a list.' });
  }
  checkExecution(data, errors);
  const ids = readIds(nodes, errors);
  checkStart(startNode, ids, errors);
  const grouped = groupEdges(edges);
  const drawn = nodes.flatMap((node: unknown) => readNode(node, ids, grouped, errors) ?? []);
  const links = drawn.reduce((sum, node) => sum + node.links.length, 0);
  if (links > MAX_LINKS) {
    const message = `The workflow has ${links} links; at most ${MAX_LINKS} can run.`;
    return { document: empty, errors: [{ code: 'too_many_links', message }] };
  }
  const document = { startNode: typeof startNode === 'string' ? startNode : '', nodes: drawn };
  return { document, errors: errors.slice(0, MAX_ERRORS) };
}

/**
 * Returns the valid ids of the drawing, each with its node object. If several nodes have the same id, the first one
 * counts.
 */
function readIds(nodes: readonly unknown[], errors: StructuralError[]): Map<string, JsonObject> {
  const ids = new Map<string, JsonObject>();
  for (const [index, node] of nodes.entries()) {
    const at = `The node at position ${index + 1}`;
    if (!isObject(node)) {
      errors.push({ code: 'invalid_node', message: `${at} is not an object.` });
      continue;
    }
    const { id } = node;
    if (id === undefined || id === null || id === '') {
      errors.push({ code: 'missing_node_id', message: `${at} has no id.` });
    } else if (typeof id !== 'string' || !NODE_ID.test(id)) {
      errors.push({
        code: 'invalid_node_id',
        message: `${at} has an id that is not a plain text of 1 to 200 characters.`,
      });
    } else if (ids.has(id)) {
      errors.push({ code: 'duplicate_node_id', message: `Several nodes have the id "${id}".`, node_id: id });
    } else {
      ids.set(id, node);
    }
  }
  return ids;
}

function checkStart(startNode: unknown, ids: ReadonlyMap<string, unknown>, errors: StructuralError[]): void {
  if (startNode === undefined || startNode === null || startNode === '') {
    errors.push({ code: 'no_start_node', message: 'The workflow has no start node.' });
  } else if (typeof startNode !== 'string' || !ids.has(startNode)) {
    errors.push({
      code: 'unknown_start_node',
      message: `The start node ${quote(startNode)} is not a node of the workflow.`,
    });
  }
}

function checkExecution(data: JsonObject, errors: StructuralError[]): void {
  const setting = executionSettingOf(data);
  if (setting === undefined || isExecution(setting)) return;
  const words = EXECUTIONS.map((word) => `"${word}"`).join(' or ');
  errors.push({ code: 'invalid_settings', message: `settings.execution is ${quote(setting)} and should be ${words}.` });
}

function readNode(
  node: unknown,
  ids: ReadonlyMap<string, JsonObject>,
  edges: EdgesBySource,
  errors: StructuralError[],
): DrawnNode | undefined {
  if (!isObject(node) || typeof node['id'] !== 'string' || ids.get(node['id']) !== node) return undefined;
  const { id, type, data = {} } = node;
  const kind = typeof type === 'string' ? kindOfType(type) : undefined;
  if (kind === undefined) {
    const message = type === undefined ? 'The node has no type.' : `The node type ${quote(type)} is not known.`;
    errors.push({ code: 'unknown_node_type', message, node_id: id });
    return undefined;
  }
  if (!isObject(data)) {
    errors.push({ code: 'invalid_node', message: 'The data of the node is not an object.', node_id: id });
    return undefined;
  }
  const links: Link[] = [];
  for (const { to, handle } of resolveLinks(kind, data, edges.get(id) ?? [])) {
    if (typeof to === 'string' && ids.has(to)) links.push({ to, handle });
    else if (errors.length < MAX_ERRORS) errors.push(toLinkError(to, id));
  }
  return { id, kind, label: textOf(data['label']) ?? textOf(data['name']) ?? kind, data, links };
}

function toLinkError(to: unknown, from: string): StructuralError {
  return typeof to === 'string'
    ? { code: 'unknown_link_target', message: `The node links to ${quote(to)}, which does not exist.`, node_id: from }
    : { code: 'invalid_link', message: 'The node has a link that is not a node id.', node_id: from };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function quote(value: unknown): string {
  if (typeof value !== 'string') return `(${typeof value})`;
  return `"${value.length > 60 ? `${cutText(value, 60)}...` : value}"`;
}

// `settings.execution` decides how the nodes of a run become activities (docs/adr/0011-one-walk.md).

const EXECUTIONS = ['visible', 'dense'] as const;
/**
 * `visible`: each node that makes requests or a model call, or runs code, has its own activity. `dense`: an activity
 * may execute several HTTP, MCP and code nodes.
 */
export type Execution = (typeof EXECUTIONS)[number];

/** Returns the setting unchecked, or undefined if the drawing has none. */
function executionSettingOf(data: unknown): unknown {
  const settings = isObject(data) ? ownValue(data, 'settings') : undefined;
  return (isObject(settings) ? ownValue(settings, 'execution') : undefined) ?? undefined;
}

function isExecution(value: unknown): value is Execution {
  return EXECUTIONS.some((known) => known === value);
}

export function executionOf(data: unknown, byDefault: Execution): Execution {
  const setting = executionSettingOf(data);
  return isExecution(setting) ? setting : byDefault;
}
