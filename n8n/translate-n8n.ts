// Translates a workflow of n8n into a drawing. The translation is pure, and evaluates nothing from the file.
import { MAX_NODES } from '../graph/document.js';
import type { JsonObject } from '../graph/json.js';
import { MAX_NOTES } from '../graph/notes.js';
import { Draft, createSpots, leftOutNote, stickyNote } from './draft.js';
import { mergeGuards, placesOf, withGuard, closeOver, isClosable, findReaders, type Flow } from './flows.js';
import {
  MAX_IMPORT_WARNINGS,
  groupBy,
  readN8nFile,
  findSubNodes,
  STICKY_NOTE_TYPE,
  type ImportWarning,
  type N8nFile,
  type N8nLink,
  type N8nNode,
  type SubNodes,
} from './n8n-file.js';
import { findLoops, isHidden, loopOutputs, type Loops } from './loops.js';
import { NodeTranslation, NotTranslatable, type Surroundings } from './node-translation.js';
import { closeBodies } from './bodies.js';
import { templateAt, type JsonPlace } from './json-places.js';
import { findStart, isTrigger, type Start } from './triggers.js';
import { ONCE_FOR_EACH, TYPES_OF_DIFFERING_INPUTS, translateNode, translationOf } from './translate-node.js';
import { waitsForCall } from './control.js';
import { zoneOf } from './dates.js';

export interface TranslatedFile {
  title: string | undefined;
  drawing: JsonObject;
  warnings: ImportWarning[];
  /**
   * The items of the first output of nodes, by the names of the nodes. Only tests read this map: a file that was
   * translated in another process comes without it, because the process answers with JSON.
   */
  outputs: ReadonlyMap<string, ItemsOfNode>;
}

interface ItemsOfNode {
  /** The `json` of the items, as JSON with variables. */
  json: unknown;
  /** A variable that is empty unless the node has run. */
  ran: string;
  /** True if `json` may be a list that stands for several items. */
  isList: boolean;
}

/** Thrown if the drawing would have more than `MAX_NODES` nodes. */
export class TooLargeFile extends Error {}

/** How far an added start is left of the enabled trigger that it replaces, or of the leftmost node if there is none. */
const START_GAP = 320;

const FILTER_TYPE = 'n8n-nodes-base.filter';

/** The limit on links that replace omitted nodes. */
const MAX_FLOWS = 100_000;

export function translateN8n(file: JsonObject): TranslatedFile {
  return new Translation(readN8nFile(file)).run();
}

class Translation {
  readonly #file: N8nFile;
  readonly #draft = new Draft();
  readonly #warnings: ImportWarning[];
  readonly #notes: JsonObject[] = [];
  readonly #subNodes: SubNodes;
  readonly #loops: Loops;
  readonly #start: Start;
  readonly #startId: string;
  readonly #ids = new Map<N8nNode, string>();
  readonly #byName: ReadonlyMap<string, N8nNode>;
  readonly #spotOf: (node: N8nNode) => { x: number; y: number };
  readonly #incoming: ReadonlyMap<N8nNode, N8nLink[]>;
  readonly #outgoing: ReadonlyMap<N8nNode, N8nLink[]>;
  readonly #out = new Map<N8nNode, Flow[][]>();
  readonly #places = new Map<N8nNode, JsonPlace>();
  readonly #leftOut = new Set<N8nNode>();
  readonly #readers: ReadonlySet<N8nNode>;
  /**
   * The variable with the callback address of the only node that waits for a call. Undefined unless exactly one node
   * does so.
   */
  readonly #callbackUrl: string | undefined;
  #flowCount = 0;
  #before: { reader: N8nNode; nodes: ReadonlySet<N8nNode> } | undefined;

  constructor(file: N8nFile) {
    this.#file = file;
    this.#warnings = [...file.warnings];
    this.#byName = new Map(file.nodes.map((node) => [node.name, node]));
    this.#subNodes = findSubNodes(file);
    this.#spotOf = createSpots(file.nodes);
    const nodes = file.nodes.filter((node) => node.type !== STICKY_NOTE_TYPE && !this.#subNodes.has(node));
    const links = file.links.filter(
      ({ from, to }) => !isTrigger(to) && !this.#subNodes.has(from) && !this.#subNodes.has(to),
    );
    this.#loops = findLoops(nodes, links);
    this.#start = findStart(nodes, this.#loops.links);
    this.#startId = this.#draft.newId(this.#start.drawn?.id ?? 'start');
    for (const node of nodes) {
      this.#ids.set(node, node === this.#start.drawn ? this.#startId : this.#draft.newId(node.id));
    }
    this.#incoming = groupBy(this.#loops.links, ({ to }) => to);
    this.#outgoing = groupBy(this.#loops.links, ({ from }) => from);
    this.#readers = findReaders(this.#loops, ONCE_FOR_EACH);
    const [waiting, ...others] = file.nodes.filter(waitsForCall);
    const isOnly = waiting !== undefined && others.length === 0;
    this.#callbackUrl = isOnly ? `${this.#ids.get(waiting)}.callback_url` : undefined;
  }

  run(): TranslatedFile {
    this.#addStart();
    for (const [order, node] of this.#loops.inOrder.entries()) {
      if (isTrigger(node)) this.#addTrigger(node);
      else this.#addNode(node, order + 1);
      if (this.#draft.nodeCount > MAX_NODES) throw tooLarge();
    }
    closeBodies(this.#loops, {
      draft: this.#draft,
      idOf: (node) => this.#ids.get(node)!,
      isThere: (node) => !this.#leftOut.has(node),
      flowsOf: (node, output) => this.#out.get(node)?.[output] ?? [],
      around: (node) => this.#around(node, this.#loops.inOrder.length, []),
    });
    if (this.#draft.nodeCount > MAX_NODES) throw tooLarge();
    this.#reportTheRest();
    const rest = this.#notes.length > 0 ? { notes: this.#notes.slice(0, MAX_NOTES) } : {};
    const drawing = this.#draft.toDrawing(this.#startId, rest);
    const warnings = this.#warnings.slice(0, MAX_IMPORT_WARNINGS);
    return { title: this.#file.title, drawing, warnings, outputs: this.#itemsOfNodes() };
  }

  #itemsOfNodes(): Map<string, ItemsOfNode> {
    const outputs = new Map<string, ItemsOfNode>();
    for (const [{ name }, [flows = []]] of this.#out) {
      const [flow] = flows;
      if (flow === undefined) continue;
      const { ran, items } = flow.place;
      outputs.set(name, { json: templateAt(flow.place, []) ?? null, ran: `{{ ${ran} }}`, isList: items !== undefined });
    }
    return outputs;
  }

  #addStart(): void {
    const { first, drawn, translated, warnings } = this.#start;
    // A trigger that was left out has a note at its place, so the start is drawn beside it.
    const beside = first === undefined ? { x: 0, y: 0 } : this.#spotOf(first);
    const spot = drawn === undefined ? { x: beside.x - START_GAP, y: beside.y } : this.#spotOf(drawn);
    const data = { label: drawn?.label ?? 'Start', input_fields: translated.fields };
    this.#draft.add({ id: this.#startId, kind: 'trigger', data, spot });
    this.#warnings.push(...warnings);
    if (first === undefined) {
      this.#warnings.push({
        node: null,
        message: 'The file has no trigger: a run begins with the nodes that nothing leads to.',
      });
    }
    for (const { node, translated: other } of this.#start.others) {
      const otherData = { label: node.label, input_fields: other.fields };
      this.#draft.add({ id: this.#ids.get(node)!, kind: 'trigger', data: otherData, spot: this.#spotOf(node) });
    }
    for (const { node, reason } of this.#start.leftOut) this.#leaveOut(node, `${reason}.`);
  }

  #addTrigger(node: N8nNode): void {
    const own = this.#start.places.get(node) ?? this.#start.translated.place;
    const place: JsonPlace = node.hasPinnedItems ? { ...own, items: 'unknown' } : own;
    if (this.#start.places.has(node)) this.#places.set(node, place);
    const isOther = this.#start.others.some((other) => other.node === node);
    const isStart = this.#start.first === undefined || this.#start.first === node;
    if (!isStart && !isOther) return;
    const id = isOther ? this.#ids.get(node)! : this.#startId;
    const flow = startFlow(id, place);
    const count = Math.max(0, ...(this.#outgoing.get(node) ?? []).map(({ output }) => output)) + 1;
    this.#out.set(
      node,
      Array.from({ length: count }, () => [flow]),
    );
  }

  #addNode(node: N8nNode, order: number): void {
    const flows = this.#flowsInto(node);
    if (node.isDisabled) return this.#close(node, flows, { reason: 'it is switched off in the file', keepsData: true });
    const refusal = this.#loops.refused.get(node);
    const translate = refusal === undefined ? translationOf(node.type) : undefined;
    if (translate === undefined) {
      return this.#close(node, flows, { reason: refusal ?? 'its type has no equivalent', keepsData: false });
    }
    const at = new NodeTranslation(node, this.#around(node, order, flows));
    try {
      const outputs = translateNode(at, translate, this.#readers.has(node));
      at.commit();
      const guards = mergeGuards(flows.flat());
      const isDecision = outputs.flatMap(({ sources }) => sources).length > 1 || node.type === FILTER_TYPE;
      const made = outputs.map(({ sources, place, isShared }, output) =>
        sources.map((source, index) => ({
          source,
          place,
          mayBeEmpty: isDecision || flows.flat().some((flow) => flow.mayBeEmpty),
          guards: isShared === true || !isDecision ? guards : withGuard(guards, node.name, output * 1000 + index),
        })),
      );
      this.#out.set(node, made);
      const place = made.flat()[0]?.place;
      if (place !== undefined) this.#places.set(node, place);
    } catch (error) {
      if (!(error instanceof NotTranslatable)) throw error;
      this.#close(node, flows, { reason: error.message, keepsData: false });
    }
  }

  #flowsInto(node: N8nNode): Flow[][] {
    const inputs: Flow[][] = [];
    const links = this.#incoming.get(node) ?? [];
    for (const { from, output, input } of links) (inputs[input] ??= []).push(...(this.#out.get(from)?.[output] ?? []));
    if (this.#isRoot(node, links)) inputs[0] = [startFlow(this.#startId, this.#start.translated.place)];
    return Array.from(inputs, (flows) => flows ?? []);
  }

  /**
   * True if the node runs although nothing leads to it: in a file without enabled triggers, or directly before a Merge
   * or Compare Datasets in n8n's old order of execution, which fetches the data of all inputs of such nodes.
   */
  #isRoot(node: N8nNode, links: readonly N8nLink[]): boolean {
    if (links.length > 0) return false;
    if (this.#start.first === undefined) return true;
    const isFetched = (this.#outgoing.get(node) ?? []).some(({ to }) => TYPES_OF_DIFFERING_INPUTS.has(to.type));
    return isFetched && this.#file.settings['executionOrder'] !== 'v1';
  }

  #around(node: N8nNode, order: number, flows: readonly (readonly Flow[])[]): Surroundings {
    return {
      draft: this.#draft,
      id: this.#ids.get(node)!,
      names: {
        node: (name, output) => this.#placeOf(name, node, output),
        callbackUrl: this.#callbackUrl,
        title: this.#file.title ?? '',
        zone: zoneOf(this.#file.settings),
      },
      flows,
      order,
      spot: this.#spotOf(node),
      subNodes: (kind) => this.#subNodes.take(node, kind),
      leadsOn: (number) => (this.#outgoing.get(node) ?? []).some(({ output }) => output === number),
      isNewOrder: this.#file.settings['executionOrder'] === 'v1',
      loopsAround: [...this.#loops.loops.values()].filter(({ body }) => body.has(node)).length,
      warnings: this.#warnings,
    };
  }

  #placeOf(name: string, reader: N8nNode, output: number | undefined): JsonPlace | string {
    const node = this.#byName.get(name);
    if (node === undefined) return 'the file has no node of that name';
    if (this.#leftOut.has(node) && !this.#places.has(node)) return 'that node was left out';
    if (isHidden(this.#loops, node, reader)) return 'that node is in a loop, which does not show what is in it';
    const outputs = this.#out.get(node) ?? [];
    const numbers = this.#outputsTo(node, reader);
    if (output !== undefined && numbers.some((number) => number !== output))
      return `it reads the output ${output} of that node, and another one leads here`;
    const [place, ...others] = placesOf(numbers.flatMap((number) => outputs[number] ?? []));
    if (others.length > 0) return 'the items of that node come here by several ways';
    return place ?? this.#places.get(node) ?? 'that node does not come before this one';
  }

  /** Returns the numbers of the outputs that lead to the reader. If none does, n8n reads the first one. */
  #outputsTo(node: N8nNode, reader: N8nNode): number[] {
    const loop = this.#loops.loops.get(node);
    const { each, done } = loopOutputs(node);
    if (loop !== undefined) return [loop.body.has(reader) ? each : done];
    if ((this.#out.get(node) ?? []).length < 2) return [0];
    const before = this.#nodesBefore(reader);
    const links = (this.#outgoing.get(node) ?? []).filter(({ to }) => before.has(to));
    return links.length === 0 ? [0] : [...new Set(links.map(({ output }) => output))];
  }

  /** Returns the reader and the nodes that lead to it. Caches the last result: a reader may read many nodes. */
  #nodesBefore(reader: N8nNode): ReadonlySet<N8nNode> {
    if (this.#before?.reader !== reader) {
      // The set grows while it is iterated.
      const nodes = new Set([reader]);
      for (const node of nodes) for (const { from } of this.#incoming.get(node) ?? []) nodes.add(from);
      this.#before = { reader, nodes };
    }
    return this.#before.nodes;
  }

  #close(node: N8nNode, inputs: Flow[][], { reason, keepsData }: { reason: string; keepsData: boolean }): void {
    const outgoing = this.#outgoing.get(node) ?? [];
    const flows = closeOver(node, inputs, keepsData);
    this.#flowCount += flows.length;
    const isClosed = this.#flowCount <= MAX_FLOWS && (keepsData || isClosable(node, inputs, outgoing));
    if (isClosed) this.#out.set(node, [flows]);
    const place = flows[0]?.place;
    if (isClosed && keepsData && place !== undefined) this.#places.set(node, place);
    const effect = isClosed ? 'The nodes before and behind it are linked.' : 'What follows it does not run.';
    this.#leaveOut(node, outgoing.length === 0 ? `${reason}.` : `${reason}. ${effect}`);
  }

  #leaveOut(node: N8nNode, sentence: string): void {
    this.#leftOut.add(node);
    const message = `${node.type.length > 100 ? 'The node' : node.type} was left out: ${sentence}`;
    this.#warnings.push({ node: node.label, message });
    this.#notes.push(leftOutNote(node, sentence, `note-${this.#notes.length + 1}`, this.#spotOf(node)));
  }

  #reportTheRest(): void {
    for (const { from, to } of this.#loops.cut) {
      const message = `Its connection back to "${to.label}" was left out: here only loops repeat nodes.`;
      this.#warnings.push({ node: from.label, message });
    }
    for (const node of this.#subNodes.unused())
      this.#leaveOut(node, 'the node that it belongs to has no use for it here.');
    for (const node of this.#file.nodes.filter(({ type }) => type === STICKY_NOTE_TYPE)) {
      this.#notes.push(stickyNote(node, `note-${this.#notes.length + 1}`, this.#spotOf(node)));
    }
    if (typeof this.#file.settings['errorWorkflow'] === 'string') {
      const message =
        'The workflow that n8n runs after errors is not taken over. A webhook of the project can tell of failed runs.';
      this.#warnings.push({ node: null, message });
    }
  }
}

function startFlow(id: string, place: JsonPlace): Flow {
  return { source: { id, handle: null }, place, guards: new Map(), mayBeEmpty: false };
}

function tooLarge(): TooLargeFile {
  return new TooLargeFile(`The file would become more than ${MAX_NODES} nodes.`);
}
