// Refuses an invalid drawing of a test, an estimate or cases, before a run with it is stored.
import { z } from 'zod';
import { connectionErrors } from '../../acceptance/prepare-run.js';
import type { Document, StructuralError } from '../../graph/document.js';
import type { JsonObject } from '../../graph/json.js';
import type { Plan } from '../../graph/plan.js';
import type { SecretMap } from '../../graph/secrets.js';
import type { NodeErrors } from '../../graph/validate.js';
import type { TestDeps } from './deps.js';
import { ApiError } from '../http/errors.js';
import { envelopeSchema, invalidNodesEnvelope, structuralEnvelope, type Envelope } from '../envelope/run-envelope.js';
import { drawingErrorSchema, errorsOfDrawing, toNodeRows, toStructuralRows } from '../workflows/check-drawing.js';

type Row = z.infer<typeof drawingErrorSchema>;

/** A 400 with the `errors` of `check_workflow` and the answer that a run of the drawing would get. */
export class InvalidDrawing extends ApiError {
  override name = 'InvalidDrawing';
  readonly #envelope: Envelope;
  readonly #errors: Row[];

  constructor(envelope: Envelope, errors: Row[]) {
    const { detail, code } = refusalOf(envelope);
    super(400, code, detail);
    this.#envelope = envelope;
    this.#errors = errors;
  }

  override toBody(): z.infer<typeof invalidDrawingSchema> {
    return { ...refusalOf(this.#envelope), errors: this.#errors };
  }
}

export const invalidDrawingSchema = envelopeSchema
  .extend({ detail: z.string(), code: z.string(), errors: z.array(drawingErrorSchema) })
  .meta({ id: 'InvalidDrawing' });

function refusalOf(envelope: Envelope): Omit<z.infer<typeof invalidDrawingSchema>, 'errors'> {
  const isStructural = envelope.status === 400;
  const detail = envelope.data.detail ?? 'Nodes of the drawing are not valid.';
  return { detail, code: isStructural ? 'invalid_workflow' : 'invalid_nodes', ...envelope };
}

export function invalidStructure(errors: StructuralError[]): InvalidDrawing {
  return new InvalidDrawing(structuralEnvelope(errors), toStructuralRows(errors));
}

interface DrawingToJudge {
  projectId: number;
  drawing: JsonObject;
  secrets: SecretMap;
  document: Document;
  plan: Plan;
  executed: ReadonlySet<string>;
}

export async function judgeNodes({ db }: Pick<TestDeps, 'db'>, judged: DrawingToJudge): Promise<void> {
  const { projectId, drawing, plan, executed } = judged;
  const errors = errorsOfDrawing({ ...judged, missingErrors: await connectionErrors(db, projectId, drawing, plan) });
  refuseNodes(ofNodes(errors, executed));
}

export function refuseNodes(errors: NodeErrors): void {
  if (Object.keys(errors).length > 0) throw new InvalidDrawing(invalidNodesEnvelope(null, errors), toNodeRows(errors));
}

export function ofNodes(errors: NodeErrors, nodeIds: ReadonlySet<string>): NodeErrors {
  return Object.fromEntries(Object.entries(errors).filter(([id]) => nodeIds.has(id)));
}
