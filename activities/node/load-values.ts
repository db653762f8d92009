// Loads the values of the variables that a node names: outputs, errors and callback addresses of nodes in its own
// iteration and outside it, and the items, indexes and last outputs of the enclosing loops.
import type { Db } from '../../db/core/client.js';
import type { SecretBox } from '../../db/core/secret-box.js';
import { findItem } from '../../db/nodes/iterations-repository.js';
import { findNodeErrors, findOutputs, readOutput } from '../../db/nodes/node-results-repository.js';
import type { RunNode } from '../../db/runs/run-contents.js';
import type { RunInput } from '../../graph/input.js';
import { openResult } from '../../db/nodes/open-result.js';
import { indexOfPath, iterationPath } from '../../graph/iteration-path.js';
import { parseJson } from '../../graph/json-text.js';
import type { NodeKey } from '../../graph/plan.js';
import type { NodeOutput, VariableValues } from '../../graph/template.js';
import { findPlaces } from '../../graph/variable-places.js';
import type { LoopVariables, NodeErrorFacts } from '../../graph/variable.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { PARSED_FACTOR, structureBytes } from './payload-weight.js';
import type { CallbackUrls } from './callback-urls.js';

interface ValuesDeps {
  db: Db;
  secretBox: SecretBox;
  callbacks: CallbackUrls;
  /** Returns the cached output as JSON text. */
  rememberedOutput: (node: NodeKey) => string | undefined;
  /** Returns the cached item as JSON text. */
  rememberedItem: (loop: NodeKey, index: number) => string | undefined;
}

interface ReadableRun {
  runId: string;
  input: RunInput;
  node(nodeId: string): RunNode | undefined;
}

export interface ValuesTask {
  run: ReadableRun;
  /** The path of the iteration in which the variables are read. */
  path: string;
  memory: ByteLease;
}

type Iteration = Omit<NodeKey, 'nodeId'>;

interface Held {
  add(bytes: number): Promise<void>;
}

export function createValuesLoader({ db, secretBox, callbacks, rememberedOutput, rememberedItem }: ValuesDeps) {
  async function loadOutputs(place: Iteration, ids: ReadonlySet<string>, held: Held): Promise<[string, NodeOutput][]> {
    const loaded: [string, NodeOutput][] = [];
    const others = new Set(ids);
    for (const nodeId of ids) {
      const text = rememberedOutput({ ...place, nodeId });
      if (text === undefined) continue;
      await held.add(PARSED_FACTOR * text.length + structureBytes(text));
      loaded.push([nodeId, parseJson(text) as NodeOutput]);
      others.delete(nodeId);
    }
    const found = await findOutputs(db, place, [...others]);
    await held.add(found.reduce((sum, { sizeBytes }) => sum + PARSED_FACTOR * sizeBytes, 0));
    for (const output of found) {
      // Reads outputs one after another, so that only one large text is in memory at a time.
      const stored = output.isLarge ? await readOutput(db, { ...place, nodeId: output.nodeId }) : output;
      const text = stored === undefined ? null : openResult(stored, { ...place, nodeId: output.nodeId }, secretBox);
      if (text === null) continue;
      await held.add(structureBytes(text));
      loaded.push([output.nodeId, parseJson(text) as NodeOutput]);
    }
    return loaded;
  }

  async function readItem(loop: NodeKey, index: number): Promise<string | undefined> {
    const item = await findItem(db, loop, index);
    return item && secretBox.open(item.itemEnc, 'loop-item', loop.runId, loop.path, loop.nodeId, index);
  }

  async function loadIteration(loop: NodeKey, path: string, held: Held): Promise<LoopVariables> {
    const index = indexOfPath(path);
    const text = rememberedItem(loop, index) ?? (await readItem(loop, index));
    if (text !== undefined) {
      await held.add(PARSED_FACTOR * text.length + structureBytes(text));
      return { index, item: parseJson(text) };
    }
    if (index === 0) return { index };
    const before = { runId: loop.runId, path: iterationPath(loop.path, loop.nodeId, index - 1) };
    const [last] = await loadOutputs(before, new Set([loop.nodeId]), held);
    return { index, ...(last !== undefined && { last: last[1]['value'] }) };
  }

  /**
   * Returns the input of the run, and loads the values that `templates` (any JSON) name. If there are any, sets the
   * task's lease to their memory, without that of the input.
   */
  return async function loadValues({ run, path, memory }: ValuesTask, templates: unknown): Promise<VariableValues> {
    const { iterations, loops } = findPlaces((nodeId) => run.node(nodeId)?.loops, path, templates);
    const results = new Map<string, NodeOutput>();
    const errors = new Map<string, NodeErrorFacts>();
    const callbackUrls = new Map<string, string>();
    let heldBytes = 0;
    const held = {
      async add(bytes: number): Promise<void> {
        heldBytes += bytes;
        await memory.resize(heldBytes);
      },
    };
    for (const [scopePath, named] of iterations) {
      const place = { runId: run.runId, path: scopePath };
      for (const [nodeId, output] of await loadOutputs(place, named.results, held)) results.set(nodeId, output);
      for (const { nodeId, ...error } of await findNodeErrors(db, place, [...named.errors])) errors.set(nodeId, error);
      for (const [nodeId, url] of await callbacks.urlsOf(run, place, named.callbacks)) callbackUrls.set(nodeId, url);
    }
    const variables = new Map<string, LoopVariables>();
    for (const [nodeId, own] of loops) {
      const loop = { runId: run.runId, path: own.loop, nodeId };
      variables.set(nodeId, await loadIteration(loop, own.iteration, held));
    }
    return { input: run.input, results, errors, callbackUrls, loops: variables };
  };
}
