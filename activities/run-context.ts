// The immutable facts of a run, loaded once per worker and kept while they are in use.
import { LRUCache } from 'lru-cache';
import type { Db } from '../db/client.js';
import { findOutputs } from '../db/node-results-repository.js';
import { findRunContext, findSnapshot, type StoredSnapshot } from '../db/run-context-repository.js';
import type { SecretBox } from '../db/secret-box.js';
import { secretFieldsOf, type RunInput } from '../graph/input.js';
import { createMasker, type Masker } from '../graph/mask.js';
import { joinSecrets, maskInput, secretTexts, type SecretMap } from '../graph/secrets.js';
import { findVariables, type NodeOutput, type Scope } from '../graph/template.js';
import { nodeDefinitions } from '../graph/nodes/registry.js';
import type { NodeKind } from '../graph/plan.js';
import { runClosedFailure } from './failures.js';

export interface RunContext {
  runId: string;
  projectId: number;
  userId: number;
  /** Unmasked. */
  input: RunInput;
  /** Every secret field is `********` in it, however short its value. */
  publicInput: RunInput;
  /** Hides every secret of this run in whatever is stored or said. */
  masker: Masker;
  /** Undefined for an id that the run does not have. */
  node(nodeId: string): RunNode | undefined;
}

export interface RunNode {
  id: string;
  kind: NodeKind;
  label: string;
  data: Record<string, unknown>;
}

export interface RunContexts {
  /** Throws a non-retryable failure when the run does not exist. */
  load(runId: string): Promise<RunContext>;
  /** The input and the outputs that `templates` (any JSON) refer to; others are not read. */
  loadScope(context: RunContext, templates: unknown): Promise<Scope>;
}

/** What runs of the same drawing share. */
interface Graph {
  nodes: Map<string, RunNode>;
  fields: Record<string, unknown>[];
}

const CACHED_RUNS = 500;
const CACHED_SNAPSHOTS = 100;

export function createRunContexts(db: Db, secretBox: SecretBox): RunContexts {
  const snapshots = new LRUCache<string, Promise<Graph>>({ max: CACHED_SNAPSHOTS });
  const runs = new LRUCache<string, Promise<RunContext>>({ max: CACHED_RUNS });

  function loadGraph(hash: Buffer): Promise<Graph> {
    return cached(snapshots, hash.toString('hex'), async () => toGraph(await findSnapshot(db, hash)));
  }

  async function loadRun(runId: string): Promise<RunContext> {
    const stored = await findRunContext(db, runId);
    if (stored === undefined) throw runClosedFailure();
    const { nodes, fields } = await loadGraph(stored.snapshotHash);
    const input = JSON.parse(
      stored.inputEnc === null ? stored.input : secretBox.open(stored.inputEnc, 'run-input'),
    ) as RunInput;
    const secrets: SecretMap =
      stored.secretsEnc === null ? {} : (JSON.parse(secretBox.open(stored.secretsEnc, 'run-secrets')) as SecretMap);
    const { masked: publicInput, secretValues: inputSecrets } = maskInput(fields, input);
    const secretValues = [...inputSecrets, ...secretTexts(secrets)];
    return {
      runId,
      projectId: stored.projectId,
      userId: stored.userId,
      input,
      publicInput,
      masker: createMasker(secretValues),
      node: (nodeId) => withSecrets(nodes.get(nodeId), secrets),
    };
  }

  return {
    load: (runId) => cached(runs, runId, () => loadRun(runId)),
    async loadScope(context, templates) {
      const nodeIds = new Set<string>();
      for (const variable of findVariables(templates)) {
        if (variable.source === 'node' && context.node(variable.nodeId) !== undefined) nodeIds.add(variable.nodeId);
      }
      const outputs = await findOutputs(db, context.runId, [...nodeIds]);
      const results = new Map<string, NodeOutput>();
      for (const { nodeId, result, resultEnc } of outputs) {
        const text = resultEnc === null ? result : secretBox.open(resultEnc, 'node-result');
        results.set(nodeId, JSON.parse(text) as NodeOutput);
      }
      return { input: context.input, results };
    },
  };
}

/** The stored graph is masked and shared by many runs; the secrets are this run's own. */
function withSecrets(node: RunNode | undefined, secrets: SecretMap): RunNode | undefined {
  if (node === undefined || Object.keys(secrets).length === 0) return node;
  const { id, kind, data } = node;
  const drawing = joinSecrets({ nodes: [{ id, type: nodeDefinitions[kind].type, data }] }, secrets);
  return { ...node, data: (drawing['nodes'] as RunNode[])[0]!.data };
}

/** Concurrent callers share one load; a failed load is not kept. */
async function cached<T extends {}>(
  cache: LRUCache<string, Promise<T>>,
  key: string,
  load: () => Promise<T>,
): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const loading = load();
  cache.set(key, loading);
  loading.catch(() => cache.delete(key));
  return loading;
}

function toGraph({ document, plan }: StoredSnapshot): Graph {
  const drawn = new Map<string, Record<string, unknown>>();
  for (const node of document['nodes'] as { id: string; data?: Record<string, unknown> }[]) {
    drawn.set(node.id, node.data ?? {});
  }
  const nodes = plan.ids.map((id, index): [string, RunNode] => {
    return [id, { id, kind: plan.kinds[index]!, label: plan.labels[index]!, data: drawn.get(id) ?? {} }];
  });
  return { nodes: new Map(nodes), fields: secretFieldsOf(document) };
}
