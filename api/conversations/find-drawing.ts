// The drawing that answers a message: that of the workflow, or the built-in one of the assistant in its editor.
import type { Db } from '../../db/core/client.js';
import type { ConversationPurpose } from '../../db/core/tables.js';
import { findDrawing, type StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { ASSISTANT_DRAWING, assistantInputs } from '../../graph/building/assistant-drawing.js';
import type { RunInput } from '../../graph/input.js';
import { ownValue } from '../../graph/json.js';

interface Answering {
  workflowId: number;
  purpose: ConversationPurpose;
}

/** Returns undefined if the workflow was deleted. */
export async function findAnsweringDrawing(
  db: Db,
  { workflowId, purpose }: Answering,
): Promise<StoredDrawing | undefined> {
  const workflow = await findDrawing(db, workflowId);
  if (workflow === undefined || purpose === 'chat') return workflow;
  return { ...workflow, document: ASSISTANT_DRAWING, secrets_enc: null };
}

/** Returns the facts of a run of the assistant that replace those of a run of the workflow; empty for a chat. */
export function factsOfPurpose(purpose: ConversationPurpose) {
  return purpose === 'chat' ? {} : ({ purpose: 'assistant', workflow_version: null, is_plain: false } as const);
}

/** Returns the fields of the trigger besides the message, made from the inputs that the conversation stores. */
export function toInputs({ workflowId, purpose }: Answering, stored: RunInput): RunInput {
  return purpose === 'chat' ? stored : assistantInputs(workflowId, modelIn(stored) ?? '');
}

/** Returns the model of a conversation with the assistant in the editor. */
export function modelIn(stored: RunInput): string | undefined {
  const model = ownValue(stored, 'model');
  return typeof model === 'string' ? model : undefined;
}
