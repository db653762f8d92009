// Types of drafts that draft-keeper.ts shares with draft-calls.ts, saver.ts and unsaved-work.tsx.
import type { Drawing } from '../../drawing/drawing.js';

export interface KeptDraft {
  drawing: Drawing;
  /** The version of the workflow on which the draft is based. */
  version: number;
  savedAt: string;
  /** ETag, with which the draft is changed or removed. */
  tag: string;
  /** The id of the assistant's run that wrote the draft last; null if a person wrote it last. */
  assistantRun: string | null;
}

/** The unsaved drawing before the newest answer of the assistant. */
export interface BeforeAnswer {
  runId: string;
  /** Undefined if nothing was unsaved. */
  drawing: Drawing | undefined;
}

export interface DraftCalls {
  /** Resolves to undefined if the service has no draft. */
  read: () => Promise<KeptDraft | undefined>;
  /**
   * `tag` is the ETag of the draft to replace; undefined if there must be none yet. Rejects with 412 if the service
   * has another draft, or no longer has the draft to replace.
   */
  write: (drawing: Drawing, version: number, tag: string | undefined) => Promise<KeptDraft>;
  /**
   * Resolves to undefined if the assistant has not answered, or the drawing from before the answer is deleted, for
   * example because the draft was saved or discarded since.
   */
  before: () => Promise<BeforeAnswer | undefined>;
  /** Resolves to false, without removing the draft, if its ETag has changed. */
  remove: (tag: string) => Promise<boolean>;
}

/** The person's draft in the service, which the service deletes when the workflow is saved. */
export interface DraftOfSave {
  /** Resolves to the draft's ETag if `********` in the drawing stands for values of the draft, else to undefined. */
  beforeSave: () => Promise<string | undefined>;
  saved: () => void;
  /** Reads the draft. Shows the assistant's changes to it, and offers it if another editor has written it. */
  follow: () => Promise<void>;
}

/** Unsaved work of another tab or device. */
export interface Offer {
  /** Key of the browser's entry; undefined for the draft that the service stores. */
  key: string | undefined;
  savedAt: string;
  version: number;
  /** True if no editor of this browser wrote the draft. */
  isElsewhere: boolean;
}
