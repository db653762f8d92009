// A run's drawing and input are read from its rows. The worker executes them, and the API shows what a node was given.
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
  /** The data as drawn; secrets in it are `********` unless they have been filled in. */
  data: Record<string, unknown>;
  /** The ids of the loops around the node, the outermost first. */
  loops: string[];
  /** The id of the last node of a loop's body; undefined if there are none or several. */
  lastNode: string | undefined;
}

export interface RunGraph {
  /** The nodes that the run can reach, by their ids. */
  nodes: Map<string, RunNode>;
  /** The secret fields of the input. */
  fields: Record<string, unknown>[];
  /** Secrets that an earlier build has stored in the drawing, by their places: it knew fewer of them. */
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

/** The parts of a drawing that decide about what is masked in its runs. */
export function readSecrets(document: JsonObject): Pick<RunGraph, 'fields' | 'unsealed'> {
  return { fields: secretFieldsOf(document), unsealed: splitSecrets(document).secrets };
}

export interface RunContents {
  /** The unmasked input. */
  input: RunInput;
  /** The unmasked input as JSON text. */
  inputText: string;
  /** The input in which every secret field is `********`, however short its value. */
  publicInput: RunInput;
  /** The secrets of the drawing, by their places. */
  secrets: SecretMap;
  /** `masker` masks these: the secrets of the run itself, and those of other runs that it has got. */
  secretTexts: string[];
  /** Masks every secret of this run in everything that is stored or shown. */
  masker: Masker;
}

/** The secrets of the drawing of a run. */
export function openRunSecrets(secretBox: SecretBox, sealed: Buffer | null, row: RunRow): SecretMap {
  return sealed === null ? {} : (JSON.parse(secretBox.open(sealed, 'run-secrets', ...row)) as SecretMap);
}

/** Throws `MissingKeyError` when the key is gone that has sealed a value. */
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
