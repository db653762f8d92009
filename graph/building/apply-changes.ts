// Applies the changes of an assistant to a drawing (docs/use/assistants.md). A pure function: all changes, or none.
import { cutText } from '../cut-text.js';
import { areOnlyVariables } from '../address-credentials.js';
import { isOnlyVariables } from '../credential-headers.js';
import { isObject, ownValue, type JsonObject } from '../json.js';
import { isDeeperThan, MAX_REQUEST_DEPTH } from '../json-depth.js';
import { traitsOf, type NodeKind } from '../kinds.js';
import { groupEdges } from '../links.js';
import { MASK } from '../mask-text.js';
import { kindOfType } from '../nodes/registry.js';
import { BODY_HANDLE } from '../plan.js';
import { mapCredentials } from '../public-drawing.js';
import { ChangeError, type Change } from './changes-schema.js';
import { readPointer, withValueAt } from './json-pointer.js';
import {
  exitNamesOf,
  findLinkField,
  sourceHandleOf,
  namedLinksOf,
  ORDINARY_EXIT,
  withLinks,
  withoutLinks,
  type NamedLinks,
} from './node-links.js';
import { placeNodes } from './place-nodes.js';

export const EMPTY_DRAWING = { nodes: [], edges: [], start_node: '' };

/**
 * Returns a copy of the drawing with the changes. Nodes that no change names stay as they are, except that they lose
 * their links to removed nodes. Everything that is not about nodes and links stays, too. New nodes get a place at which
 * they overlap nothing. Throws `ChangeError` for the first change that cannot be made. `isAction` says whether the
 * project or the catalogue has an action; by default neither has any.
 */
export function applyChanges(
  drawing: JsonObject,
  changes: readonly Change[],
  isAction: IsAction = () => false,
): JsonObject {
  const draft = new ChangedDrawing(drawing, isAction);
  for (const [index, change] of changes.entries()) {
    const problem = draft.apply(change);
    if (problem !== undefined) throw new ChangeError(index, problem);
  }
  return draft.toDrawing();
}

type IsAction = (action: ActionToAdd) => boolean;
type ActionToAdd = NonNullable<Of<'add'>['action']>;

interface ChangedNode {
  /** The node as it was drawn; of a new one only its id and type. */
  node: JsonObject;
  kind: NodeKind | undefined;
  /** Without links. */
  data: JsonObject;
  links: NamedLinks;
  isChanged: boolean;
  isNew: boolean;
}

const TRIGGER = 'trigger-node';
const ACTION = 'http-node';
const LITERAL_CREDENTIAL =
  'a credential is never written into a drawing. Name a connection instead: list_connections has those of the ' +
  'project, and ask_for_connection gives the address at which a person makes one.';

class ChangedDrawing {
  readonly #drawing: JsonObject;
  readonly #nodes = new Map<string, ChangedNode>();
  readonly #gone = new Set<string>();
  readonly #draws: boolean;
  readonly #isAction: IsAction;
  #start: unknown;

  constructor(drawing: JsonObject, isAction: IsAction) {
    this.#isAction = isAction;
    this.#drawing = drawing;
    this.#start = drawing['start_node'];
    const edges = groupEdges(drawing['edges']);
    // If the drawing has no edges, the links in the data of unchanged nodes are drawn, too. If only changed nodes got
    // edges, the unchanged nodes would get the warning `links_disagree`.
    this.#draws = edges.size === 0;
    for (const node of listOf(drawing['nodes'])) {
      const id = isObject(node) ? node['id'] : undefined;
      if (!isObject(node) || typeof id !== 'string' || id === '' || this.#nodes.has(id)) continue;
      const kind = typeof node['type'] === 'string' ? kindOfType(node['type']) : undefined;
      const data = isObject(node['data']) ? node['data'] : {};
      const links = namedLinksOf(kind, data, edges.get(id) ?? []);
      this.#nodes.set(id, { node, kind, data: withoutLinks(kind, data), links, isChanged: false, isNew: false });
    }
  }

  /** Returns a sentence if the change cannot be made. */
  apply(change: Change): string | undefined {
    if ('add' in change) return this.#add(change.add);
    if ('set' in change) return this.#set(change.set);
    if ('link' in change) return this.#link(change.link);
    if ('unlink' in change) return this.#unlink(change.unlink);
    if ('remove' in change) return this.#remove(change.remove);
    if ('rename' in change) return this.#rename(change.rename);
    return this.#fields(change.fields);
  }

  #add({ id, kind: asked, action, label, data: given = {}, after }: Of<'add'>): string | undefined {
    if (this.#nodes.has(id)) return `There is a node ${quote(id)} already.`;
    if (action !== undefined && !this.#isAction(action)) {
      return `There is no action ${quote(action.id)} of a service ${quote(action.service)}: find_nodes lists them.`;
    }
    const type = asked ?? (action && ACTION);
    if (type === undefined) return 'add names the kind of the node, or an action.';
    if (action !== undefined && type !== ACTION) return `An action makes a node of the kind "${ACTION}".`;
    const data = action === undefined ? given : { ...given, action };
    const kind = kindOfType(type);
    if (kind === undefined) return `There is no kind ${quote(type)}: find_nodes lists them.`;
    const wrong = this.#refusedData(kind, data) ?? refusedDepth(data);
    if (wrong !== undefined) return wrong;
    const named = { ...data, id, label: label ?? ownValue(data, 'label') ?? id };
    const node = { id, type };
    const credential = refusedCredential([{ ...node, data: named }]);
    if (credential !== undefined) return credential;
    this.#nodes.set(id, { node, kind, data: named, links: new Map(), isChanged: true, isNew: true });
    if (type === TRIGGER && !this.#nodes.has(String(this.#start))) this.#start = id;
    if (after === undefined) return undefined;
    const { node: from, exit } = typeof after === 'string' ? { node: after, exit: undefined } : after;
    return this.#link({ from, exit, to: id });
  }

  #set({ node: id, path, value }: Of<'set'>): string | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined) return unknownNode(id);
    const parts = readPointer(path);
    if (parts === undefined)
      return `${quote(path)} is no JSON Pointer: it starts with "/", and "~" stands in it as "~0", "/" as "~1".`;
    if (parts[0] === 'id' || parts[0] === 'label') return `/${parts[0]} is not set: rename changes the label.`;
    const set = withValueAt(node.data, parts, value);
    if ('problem' in set) return `${quote(path)}: ${set.problem}.`;
    if (!isObject(set.changed)) return 'The data of a node is an object.';
    const wrong = this.#refusedData(node.kind, set.changed) ?? refusedDepth(set.changed);
    if (wrong !== undefined) return wrong;
    const { id: own, label } = node.data;
    const names = { ...(own !== undefined && { id: own }), ...(label !== undefined && { label }) };
    return this.#replaceData(node, { ...set.changed, ...names });
  }

  /** Links of exits that the node no longer has are dropped. */
  #replaceData(node: ChangedNode, data: JsonObject): string | undefined {
    const credential = refusedCredential([{ ...node.node, data }]);
    if (credential !== undefined) return credential;
    node.data = data;
    node.isChanged = true;
    const names = new Set(exitNamesOf(node.kind, data));
    for (const exit of node.links.keys()) if (!names.has(exit)) node.links.delete(exit);
    return undefined;
  }

  #refusedData(kind: NodeKind | undefined, data: JsonObject): string | undefined {
    const field = findLinkField(kind, data);
    return field === undefined ? undefined : `${quote(field)} holds links: link and unlink change them.`;
  }

  #link({ from, exit = ORDINARY_EXIT, to }: Of<'link'>): string | undefined {
    const source = this.#nodes.get(from);
    if (source === undefined) return unknownNode(from);
    if (!this.#nodes.has(to)) return unknownNode(to);
    const names = exitNamesOf(source.kind, source.data);
    if (!names.includes(exit)) return unknownExit(from, exit, names);
    const targets = source.links.get(exit) ?? [];
    if (targets.includes(to)) return undefined;
    source.links.set(exit, [...targets, to]);
    source.isChanged = true;
    return undefined;
  }

  #unlink({ from, exit = ORDINARY_EXIT, to }: Of<'unlink'>): string | undefined {
    const source = this.#nodes.get(from);
    if (source === undefined) return unknownNode(from);
    const names = exitNamesOf(source.kind, source.data);
    if (!names.includes(exit)) return unknownExit(from, exit, names);
    const targets = source.links.get(exit) ?? [];
    if (!targets.includes(to)) return `The exit ${quote(exit)} of ${quote(from)} does not lead to ${quote(to)}.`;
    setTargets(
      source,
      exit,
      targets.filter((target) => target !== to),
    );
    return undefined;
  }

  #remove(id: string): string | undefined {
    const removed = this.#nodes.get(id);
    if (removed === undefined) return unknownNode(id);
    this.#nodes.delete(id);
    this.#gone.add(id);
    for (const node of this.#nodes.values()) {
      for (const [exit, targets] of node.links) {
        if (!targets.includes(id)) continue;
        setTargets(
          node,
          exit,
          targets.filter((target) => target !== id),
        );
      }
    }
    if (this.#start !== id) return undefined;
    const [next] = [...this.#nodes].find(([, { node }]) => node['type'] === TRIGGER) ?? [''];
    this.#start = next;
    return undefined;
  }

  #rename({ node: id, label }: Of<'rename'>): string | undefined {
    const node = this.#nodes.get(id);
    if (node === undefined) return unknownNode(id);
    node.data = { ...node.data, label };
    node.isChanged = true;
    return undefined;
  }

  #fields(fields: Of<'fields'>): string | undefined {
    const start = this.#nodes.get(String(this.#start));
    if (start?.node['type'] !== TRIGGER) return 'The drawing starts with no trigger: add one first.';
    const data = { ...start.data, input_fields: fields };
    return refusedDepth(data) ?? this.#replaceData(start, data);
  }

  toDrawing(): JsonObject {
    const { nodes, edges, start_node: _start, ...rest } = this.#drawing;
    const all = [...this.#nodes.values()];
    const added = all.filter(({ isNew }) => isNew);
    const places = this.#place(added);
    const drawn = listOf(nodes).flatMap((node) => {
      const id = isObject(node) ? node['id'] : undefined;
      if (typeof id !== 'string') return [node];
      const known = this.#nodes.get(id);
      if (known !== undefined && known.node === node) return [known.isChanged ? toNode(known) : node];
      // Drops a removed node, and later nodes with its id.
      return this.#gone.has(id) || known?.isNew === true ? [] : [node];
    });
    const made = added.map((node) => ({ ...toNode(node), position: places.get(String(node.node['id']))! }));
    return {
      ...rest,
      nodes: [...drawn, ...made],
      edges: this.#edges(listOf(edges)),
      ...(this.#start !== undefined && { start_node: this.#start }),
    };
  }

  #place(added: readonly ChangedNode[]): Map<string, { x: number; y: number }> {
    if (added.length === 0) return new Map();
    const nodes = new Map([...this.#nodes].map(([id, node]) => [id, node.isNew ? toNode(node) : node.node]));
    const links = [...this.#nodes].flatMap(([from, { kind, links: named }]) =>
      [...named].flatMap(([exit, targets]) => targets.map((to) => ({ from, to, isIntoBody: isBody(kind, exit) }))),
    );
    const ids = new Set(added.map(({ node }) => String(node['id'])));
    const start = typeof this.#start === 'string' ? this.#start : undefined;
    return placeNodes({ nodes, start, links, notes: this.#drawing['notes'] }, ids);
  }

  /** Draws the links of changed nodes anew; an edge of a link that stays keeps its id and its looks. */
  #edges(edges: readonly unknown[]): unknown[] {
    const isDrawnAnew = (id: unknown): boolean => {
      const node = typeof id === 'string' ? this.#nodes.get(id) : undefined;
      return node !== undefined && (node.isChanged || this.#draws);
    };
    const kept = new Map<string, unknown>();
    const left = edges.filter((edge) => {
      if (!isObject(edge)) return true;
      const { source, target, sourceHandle } = edge;
      const isGone = (id: unknown): boolean => typeof id === 'string' && this.#gone.has(id) && !this.#nodes.has(id);
      if (isGone(source) || isGone(target)) return false;
      if (!isDrawnAnew(source)) return true;
      kept.set(keyOf(source, sourceHandle ?? undefined, target), edge);
      return false;
    });
    const drawn = [...this.#nodes].flatMap(([source, { links, isChanged }]) => {
      if (!isChanged && !this.#draws) return [];
      return [...links].flatMap(([exit, targets]) =>
        targets.map((target) => kept.get(keyOf(source, sourceHandleOf(exit), target)) ?? toEdge(source, exit, target)),
      );
    });
    return [...left, ...drawn];
  }
}

type Of<Name extends string> = Extract<Change, Record<Name, unknown>>[Name &
  keyof Extract<Change, Record<Name, unknown>>];

/** True for the exit of a loop that leads into its body. */
function isBody(kind: NodeKind | undefined, exit: string): boolean {
  return kind !== undefined && traitsOf(kind).runs === 'body' && traitsOf(kind).handles[BODY_HANDLE - 1]?.edge === exit;
}

function toNode({ node, kind, data, links }: ChangedNode): JsonObject {
  return { ...node, data: withLinks(kind, data, links) };
}

function toEdge(source: string, exit: string, target: string): JsonObject {
  const handle = sourceHandleOf(exit);
  const id = `${source}-${handle ?? 'out'}-${target}`;
  return { id, source, target, ...(handle !== undefined && { sourceHandle: handle }) };
}

function keyOf(source: unknown, handle: unknown, target: unknown): string {
  return JSON.stringify([source, handle, target]);
}

function setTargets(node: ChangedNode, exit: string, targets: string[]): void {
  if (targets.length > 0) node.links.set(exit, targets);
  else node.links.delete(exit);
  node.isChanged = true;
}

/**
 * Exceeds the number of levels around the data of a node: the body of a request, the drawing, its list of nodes, the
 * node.
 */
const LEVELS_AROUND = 8;

function refusedDepth(data: JsonObject): string | undefined {
  return isDeeperThan(data, MAX_REQUEST_DEPTH - LEVELS_AROUND) ? 'The data is nested too deeply.' : undefined;
}

/**
 * Returns an error sentence if nodes contain a literal credential. `********` keeps what is stored, and variables name
 * where a credential comes from. While a node lacks the facts of its action, only the name of a field shows that its
 * value is a credential.
 */
export function refusedCredential(nodes: unknown): string | undefined {
  let refused: string | undefined;
  mapCredentials({ nodes }, (value, { label, kind }) => {
    const isText = typeof value === 'string';
    const isNamed = isText && (kind === 'address' ? areOnlyVariables(value) : isOnlyVariables(value));
    if (value !== MASK && !isNamed) refused ??= `${quote(label)}: ${LITERAL_CREDENTIAL}`;
    return value;
  });
  return refused;
}

function unknownNode(id: string): string {
  return `There is no node ${quote(id)}.`;
}

function unknownExit(id: string, exit: string, names: readonly string[]): string {
  const known = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 20).map(quote).join(', ')}`;
  return `The node ${quote(id)} has no exit ${quote(exit)}: ${known}.`;
}

function quote(text: string): string {
  return `"${cutText(text, 100)}"`;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
