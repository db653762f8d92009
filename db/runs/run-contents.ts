// Parses a run's drawing, input and secrets from its rows, for the worker and the API.
import { secretFieldsOf, type RunInput } from '../../graph/input.js';
import type { JsonObject } from '../../graph/json.js';
import { parseJson } from '../../graph/json-text.js';
import type { NodeKind } from '../../graph/kinds.js';
import { enclosingLoops, lastNodesOf } from '../../graph/plan.js';
import { createMasker, type Masker } from '../../graph/mask.js';
import { maskInput, secretTexts, splitSecrets, type SecretMap } from '../../graph/secrets.js';
import type { SecretBox } from '../core/secret-box.js';
import { openPassedSecrets, type RunRow } from './passed-secrets.js';
import type { StoredRunContext, StoredSnapshot } from './run-context-repository.js';

export interface RunNode {
  id: string;
  kind: NodeKind;
  label: string;
  /** The data as drawn; secrets are `********` until they are filled in. */
  data: Record<string, unknown>;
  /** The ids of the loops around the node, the outermost first. */
  loops: string[];
  /** If the node is a loop, the id of the last node of its body; undefined if the body has none or several. */
  lastNode: string | undefined;
}

export interface RunGraph {
  /** The nodes that the run can reach, by id. */
  nodes: Map<string, RunNode>;
  fields: Record<string, unknown>[];
  /** Secrets that are still in the stored drawing, by place: the build that stored it did not recognise them. */
  unsealed: SecretMap;
}

export function readGraph({ document, plan }: StoredSnapshot): RunGraph {
  const drawn = new Map<string, Record<string, unknown>>();
  for (const node of document['nodes'] as { id: string; data?: Record<string, unknown> }[]) {
    drawn.set(node.id, node.data ?? {});
  }
  const around = enclosingLoops(plan);
  const nodes = plan.ids.map((id, index): [string, RunNode] => {
    const lasts = plan.bodies?.[index] === undefined ? [] : lastNodesOf(plan, index);
    const node = {
      id,
      kind: plan.kinds[index]!,
      label: plan.labels[index]!,
      data: drawn.get(id) ?? {},
      loops: around[index]!.map((loop) => plan.ids[loop]!),
      lastNode: lasts.length === 1 ? plan.ids[lasts[0]!] : undefined,
    };
    return [id, node];
  });
  return { nodes: new Map(nodes), ...readSecrets(document) };
}

/** Returns the parts of a drawing that decide what is masked in its runs. */
export function readSecrets(document: JsonObject): Pick<RunGraph, 'fields' | 'unsealed'> {
  return { fields: secretFieldsOf(document), unsealed: splitSecrets(document).secrets };
}

export interface RunContents {
  input: RunInput;
  /** The unmasked input as JSON text. */
  inputText: string;
  /** The input with every secret field masked as `********`, however short its value. */
  publicInput: RunInput;
  /** The secrets of the drawing, by place. */
  secrets: SecretMap;
  /** The run's own secrets, and those that other runs and people have passed to it. */
  secretTexts: string[];
  /** Masks `secretTexts`, except very short ones, in text that is stored or shown. */
  masker: Masker;
}

export function openRunSecrets(secretBox: SecretBox, sealed: Buffer | null, row: RunRow): SecretMap {
  return sealed === null ? {} : (JSON.parse(secretBox.open(sealed, 'run-secrets', ...row)) as SecretMap);
}

/** Throws `MissingKeyError` if the key that sealed a value is gone. */
export function openRunContents(
  { runId, projectId, input: storedInput, inputEnc, secretsEnc, passedSecretsEnc }: StoredRunContext,
  { fields, unsealed }: Pick<RunGraph, 'fields' | 'unsealed'>,
  secretBox: SecretBox,
): RunContents {
  const row = [projectId, runId] as const;
  const inputText = inputEnc === null ? storedInput : secretBox.open(inputEnc, 'run-input', ...row);
  const input = parseJson(inputText) as RunInput;
  const secrets = openRunSecrets(secretBox, secretsEnc, row);
  const { masked: publicInput, secretValues } = maskInput(fields, input);
  const passed = openPassedSecrets(secretBox, passedSecretsEnc, row);
  const texts = [...secretValues, ...secretTexts(unsealed), ...secretTexts(secrets), ...passed];
  return { input, inputText, publicInput, secrets, secretTexts: texts, masker: createMasker(texts) };
}
