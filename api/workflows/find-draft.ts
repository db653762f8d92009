import type { SecretBox } from '../../db/core/secret-box.js';
import type { Db } from '../../db/core/client.js';
import { findDraft, type Draft } from '../../db/workflows/drafts-repository.js';
import type { SplitDrawing } from '../../graph/drawing-change.js';
import { invalidFields } from '../http/errors.js';
import { refuseStale } from '../http/if-match.js';
import { openDraft } from './drawing-secrets.js';

interface PlaceOfDraft {
  id: number;
  project_id: number;
  userId: number;
}

/** Returns the user's draft of the workflow with its secrets, which must never be part of an answer. */
export async function findOpenedDraft(db: Db, box: SecretBox, place: PlaceOfDraft): Promise<SplitDrawing | undefined> {
  const draft = await findDraft(db, { workflowId: place.id, userId: place.userId });
  return draft && openDraft(box, place, draft);
}

/** Like `findOpenedDraft`, for `from_draft`. Throws 400 if there is no draft, and 412 if it has another tag. */
export async function requireDraft(db: Db, box: SecretBox, place: PlaceOfDraft, etag?: string): Promise<SplitDrawing> {
  const draft = await findDraft(db, { workflowId: place.id, userId: place.userId });
  if (draft === undefined) throw invalidFields({ from_draft: ['You have no draft of this workflow.'] });
  refuseStale(etag === undefined ? undefined : [etag], draftEtag(draft));
  return openDraft(box, place, draft);
}

export function draftEtag({ tag }: Draft): string {
  return `"${tag}"`;
}

/** With `from_draft: true`, `********` in `drawing` stands for the value in the caller's draft, if it has one. */
interface NamingDraft {
  from_draft?: boolean | undefined;
  drawing?: unknown;
}

/** False for a body with `from_draft` but without `drawing`. */
export function hasDrawing({ from_draft: isFromDraft, drawing }: NamingDraft): boolean {
  return isFromDraft !== true || drawing !== undefined;
}

export const NO_DRAWING = { path: ['drawing'], message: 'This field is required with from_draft.' };

/** Returns the caller's draft if the body has `from_draft`, else undefined. Throws 400 if there is no such draft. */
export async function findNamedDraft(
  { db, secretBox }: { db: Db; secretBox: SecretBox },
  workflow: { id: number; project_id: number },
  { userId }: { userId: number },
  { from_draft: isFromDraft }: NamingDraft,
): Promise<SplitDrawing | undefined> {
  return isFromDraft ? requireDraft(db, secretBox, { ...workflow, userId }) : undefined;
}
