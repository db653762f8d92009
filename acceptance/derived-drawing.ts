// The data that acceptance derives from a drawing alone, regardless of the caller and the input.
import { compilePlan } from '../graph/compile-plan.js';
import type { Document, StructuralError } from '../graph/document.js';
import { inputFieldsOf } from '../graph/input.js';
import type { JsonObject } from '../graph/json.js';
import { findLostSecrets } from '../graph/lost-secrets.js';
import type { Plan } from '../graph/plan.js';
import type { SecretMap } from '../graph/secrets.js';
import { validateNodes, type NodeErrors } from '../graph/validate.js';
import { filesOfNodes, type DrawnFile } from './run-files.js';

export interface DerivedDrawing {
  /** The drawing with its secrets, which must never be part of an answer. */
  drawing: JsonObject;
  document: Document;
  plan: Plan;
  /** The `input_fields` of the start node. */
  fields: readonly JsonObject[];
  nodeErrors: NodeErrors;
  lostSecrets: ReturnType<typeof findLostSecrets>;
  files: readonly DrawnFile[];
}

/** A drawing with structural errors cannot be compiled, so nothing else is read from it. */
type Derivation = { ok: true; derived: DerivedDrawing } | { ok: false; errors: StructuralError[] };

/** `drawing` must contain its `secrets`. */
export function deriveDrawing(drawing: JsonObject, secrets: SecretMap): Derivation {
  const compiled = compilePlan(drawing);
  if (!compiled.ok) return compiled;
  const { document, plan } = compiled;
  const derived = {
    drawing,
    document,
    plan,
    fields: inputFieldsOf(drawing),
    nodeErrors: validateNodes(document, plan),
    lostSecrets: findLostSecrets(drawing, secrets),
    files: filesOfNodes(drawing, plan),
  };
  return { ok: true, derived };
}
