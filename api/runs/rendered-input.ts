// Renders the input of a node, its data with the variables filled in, from stored values; nothing of it is stored.
// Secret fields of the run's input stay `********`. Values that later nodes read unmasked are opened for rendering, and
// the run's masker then masks the whole input of the node.
import type { Logger } from '../../telemetry/logger.js';
import { findNodeErrors } from '../../db/nodes/node-results-repository.js';
import { measureOutputs, readOutputs, type MeasuredOutput } from '../../db/nodes/node-outputs-repository.js';
import { findRunContext, findSnapshot, measureRunContext } from '../../db/runs/run-context-repository.js';
import { openRunContents, readGraph, type RunContents, type RunNode } from '../../db/runs/run-contents.js';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeKey } from '../../graph/plan.js';
import { renderData, templatesOf } from '../../graph/rendered-data.js';
import { MASK } from '../../graph/mask-text.js';
import { RenderedTooLargeError, type NodeOutput } from '../../graph/template.js';
import type { LoopVariables } from '../../graph/variable.js';
import { findPlaces } from '../../graph/variable-places.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import type { RunDeps } from './deps.js';
import type { Asker } from '../http/heavy-work.js';
import { RawJson } from '../http/json-text.js';
import { findLoopValues } from './loop-values.js';

/**
 * `too_large`: the input or the values of its variables exceed `MAX_INPUT_CHARACTERS`. `unreadable`: a value that the
 * rendering needs is no longer stored or cannot be opened.
 */
type MissingInput = 'too_large' | 'unreadable';

/**
 * The limit on all outputs that one input is rendered from. Outputs beyond it are replaced by a text that states their
 * size.
 */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/**
 * Limits the JSON text of an input, and the values of its variables, because masking takes time with each character.
 */
const MAX_INPUT_CHARACTERS = 1024 * 1024;
/** Bytes of memory per byte of JSON text: drawings are mostly small objects, which take more than their text. */
const WEIGHT = 8;

interface Asked {
  key: NodeKey;
  /** The start of the attempt whose input is rendered: outputs of nodes that ended later are excluded. */
  moment: Date;
  log: Logger;
  /** The lease of the request's memory, which gets its old size back at the end. */
  memory: ByteLease;
  /** Identifies the request in the queue of large work (api/http/heavy-work.ts), for a large drawing or input. */
  asker: Asker;
}

export async function renderNodeInput(deps: RunDeps, asked: Asked): Promise<RawJson | MissingInput> {
  const before = asked.memory.bytes;
  try {
    return await renderWithin(deps, asked);
  } finally {
    void asked.memory.resize(before);
  }
}

async function renderWithin(deps: RunDeps, asked: Asked): Promise<RawJson | MissingInput> {
  const { key, memory, asker } = asked;
  const size = await measureRunContext(deps.db, key.runId);
  if (size === undefined) return 'unreadable';
  const readBytes = size.inputBytes + size.documentBytes;
  await memory.resize(memory.bytes + WEIGHT * readBytes);
  return deps.heavyWork.run(asker, readBytes, () => renderInTurn(deps, asked));
}

async function renderInTurn(
  { db, secretBox }: RunDeps,
  { key, moment, log, memory }: Asked,
): Promise<RawJson | MissingInput> {
  const stored = await findRunContext(db, key.runId);
  if (stored === undefined) return 'unreadable';
  const graph = readGraph(await findSnapshot(db, stored.snapshotHash));
  const node = graph.nodes.get(key.nodeId);
  if (node === undefined) return 'unreadable';
  const { iterations, loops } = findPlaces(
    (id) => graph.nodes.get(id)?.loops,
    key.path,
    templatesOf(node.kind, node.data),
  );
  const places = [...iterations].map(([path, named]) => ({ place: { runId: key.runId, path }, named }));
  const found = await collect(places, ({ place, named }) => measureOutputs(db, place, [...named.results], moment));
  const { chosen, leftOut, chosenBytes } = chooseOutputs(found);
  await memory.resize(memory.bytes + WEIGHT * chosenBytes);
  const texts = await collect(places, async ({ place, named }) => {
    const outputs = await readOutputs(
      db,
      place,
      chosen.filter((id) => named.results.has(id)),
    );
    return outputs.map((output) => ({ ...output, place }));
  });
  const failed = await collect(places, ({ place, named }) => findNodeErrors(db, place, [...named.errors]));
  if (texts.length < chosen.length || found.some(({ isGone }) => isGone)) return 'unreadable';
  const ofLoops = await collect([...loops], async ([nodeId, own]): Promise<[string, () => LoopVariables][]> => {
    const loop = { runId: key.runId, path: own.loop, nodeId };
    return [[nodeId, await findLoopValues(db, secretBox, loop, own.iteration)]];
  });
  // The database is not read below, because its errors must not be taken for values that cannot be opened.
  try {
    const run = openRunContents(stored, graph, secretBox);
    const results = new Map(
      texts.map(({ place, nodeId, result, resultEnc }): [string, NodeOutput] => {
        // Values that people entered are read in the masked form, which hides secret fields however short they are.
        const isEntered = ['trigger', 'human'].includes(graph.nodes.get(nodeId)?.kind ?? '');
        const isPublic = resultEnc === null || isEntered;
        const text = isPublic ? result : secretBox.open(resultEnc, 'node-result', place.runId, place.path, nodeId);
        return [nodeId, parseJson(text) as NodeOutput];
      }),
    );
    const errors = new Map(failed.map(({ nodeId, ...error }) => [nodeId, error]));
    // Anyone who knows a callback address may answer, so the address is masked here. The node's `waiting` shows it to
    // readers who may run the workflow.
    const callbackIds = places.flatMap(({ named }) => [...named.callbacks]);
    const callbackUrls = new Map(callbackIds.map((nodeId) => [nodeId, MASK]));
    return toText(node, run, {
      input: run.publicInput,
      results,
      errors,
      callbackUrls,
      loops: new Map(ofLoops.map(([nodeId, open]) => [nodeId, open()])),
      leftOut,
    });
  } catch (error) {
    log.warn({ err: error, run_id: key.runId, node_id: key.nodeId }, 'the input of a node cannot be rendered');
    return 'unreadable';
  }
}

async function collect<Of, Found>(of: Of[], find: (one: Of) => Promise<Found[]>): Promise<Found[]> {
  const all: Found[] = [];
  for (const one of of) all.push(...(await find(one)));
  return all;
}

/** Chooses the smallest outputs first, so that as few as possible are left out. */
function chooseOutputs(found: MeasuredOutput[]): Chosen {
  const chosen: string[] = [];
  const leftOut = new Map<string, string>();
  let chosenBytes = 0;
  for (const { nodeId, sizeBytes } of found.toSorted((a, b) => a.sizeBytes - b.sizeBytes)) {
    if (chosenBytes + sizeBytes <= MAX_OUTPUT_BYTES) {
      chosen.push(nodeId);
      chosenBytes += sizeBytes;
    } else leftOut.set(nodeId, `[not shown: a result of ${sizeBytes} bytes]`);
  }
  return { chosen, chosenBytes, leftOut };
}

interface Chosen {
  chosen: string[];
  chosenBytes: number;
  /** Node ids, and the texts that replace their outputs (`VariableValues`). */
  leftOut: Map<string, string>;
}

function toText(
  { kind, data }: RunNode,
  { masker }: RunContents,
  values: Parameters<typeof renderData>[2],
): RawJson | MissingInput {
  try {
    const rendered = renderData(kind, data, values, MAX_INPUT_CHARACTERS);
    const text = writeJson(rendered);
    if (text.length > MAX_INPUT_CHARACTERS) return 'too_large';
    return new RawJson(masker.isEmpty ? text : writeJson(masker.json(rendered)));
  } catch (error) {
    if (error instanceof RenderedTooLargeError) return 'too_large';
    throw error;
  }
}
