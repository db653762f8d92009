// Saves the drawing, one request at a time, and only if nobody else has changed the workflow in the meantime.
import { api, ServiceError, type components } from '../../service/api.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { isEqualJson } from '../../../graph/json.js';
import { announce } from '../../ui/notices.js';
import { createStore, type Store, type Stored } from '../../ui/store.js';
import type { DraftOfSave } from './kept-draft.js';

interface SaverState {
  workflow: Workflow;
  /** ETag of the stored workflow, sent with the next change. */
  etag: string;
  isSaving: boolean;
  error: unknown;
  /** The workflow that somebody else saved (412), until the person decides. */
  conflict: WorkflowRecord | undefined;
}

export class Saver implements Stored<SaverState> {
  readonly #store: EditorStore;
  readonly #state: Store<SaverState>;
  readonly getState: () => SaverState;
  readonly subscribe: Stored<SaverState>['subscribe'];
  #running: Promise<boolean> | undefined;
  /** Undefined for viewers, who have no draft. */
  #draft: DraftOfSave | undefined;

  constructor(store: EditorStore, record: WorkflowRecord) {
    this.#store = store;
    this.#state = createStore<SaverState>({ ...record, isSaving: false, error: undefined, conflict: undefined });
    this.getState = this.#state.getState;
    this.subscribe = this.#state.subscribe;
  }

  /** From now on, each save calls `beforeSave` of the draft first, and `saved` once the drawing is stored. */
  keepDraft(draft: DraftOfSave): void {
    this.#draft = draft;
  }

  /**
   * Saves unsaved changes, if any. Resolves to false if they are not saved. Changes that are made during the request
   * remain unsaved, also if the result is true.
   */
  readonly save = async (): Promise<boolean> => {
    while (this.#running !== undefined) await this.#running;
    if (!this.#store.getState().isDirty) {
      // The person may have undone the change that failed to save.
      if (this.getState().error !== undefined) this.#set({ error: undefined });
      return true;
    }
    this.#running = this.#send();
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
    }
  };

  /**
   * Changes anything but the drawing. Rejects with the service's error. A 412 also opens the conflict dialog, unless
   * both drawings are equal.
   */
  async changeDetails(change: Omit<WorkflowChange, 'data'>): Promise<void> {
    await this.#change(({ workflow, etag }) => changeWorkflow(workflow.id, etag, change));
  }

  /** Restores an earlier version and shows it. Rejects like `changeDetails`. */
  async restore(version: number): Promise<void> {
    const restored = await this.#change(({ workflow, etag }) => restoreVersion(workflow.id, etag, version));
    this.#store.takeOver(restored.workflow.data);
  }

  /**
   * Stores the service's response to a change without `If-Match`. If it has another drawing than the one that this page
   * knows as stored, keeps the known one with its ETag and version, so that the next save shows the conflict instead of
   * overwriting the other drawing.
   */
  adoptUnconditional({ workflow, etag }: WorkflowRecord): void {
    if (isEqualJson(workflow.data, this.#store.getState().saved)) return this.#adopt({ workflow, etag });
    const { data, version } = this.getState().workflow;
    this.#set({ workflow: { ...workflow, data, version }, error: undefined });
  }

  /** Stores a workflow that the service has returned, with the ETag for the next change. */
  #adopt({ workflow, etag }: WorkflowRecord): void {
    this.#set({ workflow, etag, error: undefined });
  }

  /** Overwrites the other person's drawing with this page's. */
  readonly keepMine = async (): Promise<boolean> => {
    const { conflict } = this.getState();
    if (conflict === undefined) return false;
    // Marks this page's drawing as unsaved even if nothing was changed here, because the service has the other drawing.
    this.#store.markStored(conflict.workflow.data);
    this.#set({ ...conflict, conflict: undefined });
    return this.save();
  };

  readonly takeTheirs = (): void => {
    const { conflict } = this.getState();
    if (conflict === undefined) return;
    this.#store.takeOver(conflict.workflow.data);
    this.#set({ ...conflict, conflict: undefined, error: undefined });
  };

  /** Closes the dialog without a decision. The changes stay unsaved. */
  readonly decideLater = (): void => this.#set({ conflict: undefined });

  async #send(): Promise<boolean> {
    const { drawing } = this.#store;
    this.#set({ isSaving: true, error: undefined });
    this.#store.markSending(drawing);
    try {
      const { workflow, etag } = this.getState();
      const draftTag = await this.#draft?.beforeSave();
      const record = await changeWorkflow(workflow.id, etag, {
        data: drawing,
        ...(draftTag !== undefined && { from_draft: true, draft_etag: draftTag }),
      });
      this.#draft?.saved();
      this.#adopt(record);
      this.#store.markSaved(drawing, record.workflow.data);
      return true;
    } catch (error) {
      this.#store.markSending(undefined);
      if (isConflict(error)) await this.#showConflict(error);
      else this.#set({ error });
      return !this.#store.getState().isDirty;
    } finally {
      this.#set({ isSaving: false });
    }
  }

  /** Waits for the current save or change, because each response contains the ETag for the next request. */
  async #change(ask: (state: SaverState) => Promise<WorkflowRecord>): Promise<WorkflowRecord> {
    while (this.#running !== undefined) await this.#running;
    const asked = this.#ask(ask);
    this.#running = asked.then(
      () => true,
      () => false,
    );
    try {
      return await asked;
    } finally {
      this.#running = undefined;
    }
  }

  async #ask(ask: (state: SaverState) => Promise<WorkflowRecord>): Promise<WorkflowRecord> {
    try {
      const record = await ask(this.getState());
      this.#adopt(record);
      return record;
    } catch (error) {
      if (isConflict(error)) await this.#showConflict(error);
      throw error;
    }
  }

  /** Handles a 412. Opens the conflict dialog if somebody else has changed the workflow and the drawings differ. */
  async #showConflict(refusal: unknown): Promise<void> {
    try {
      const { workflow, etag } = this.getState();
      const theirs = await readWorkflow(workflow.id);
      const { drawing } = this.#store;
      if (theirs.etag === etag) {
        // Only the draft has changed since `beforeSave`.
        this.#set({ error: refusal });
        await this.#draft?.follow();
        return;
      }
      if (!isEqualJson(theirs.workflow.data, drawing)) {
        this.#set({ conflict: theirs });
        return;
      }
      // The stored drawing equals the editor's, for example because the response to this page's own save was lost.
      this.#adopt(theirs);
      this.#store.markSaved(drawing, theirs.workflow.data);
      if (!this.#store.isFromDraft) return;
      // Equal drawings may have different secrets. The draft's secrets were saved only if the service has deleted the
      // draft.
      await this.#draft?.follow();
      if (this.#store.isFromDraft) this.#set({ error: refusal });
    } catch (error) {
      this.#set({ error });
    }
  }

  #set(change: Partial<SaverState>): void {
    this.#state.setState({ ...this.getState(), ...change });
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 412;
}

/** Saves on request of the person. Announces success, or that there is nothing to save. */
export async function saveAndAnnounce(store: EditorStore, saver: Saver): Promise<void> {
  if (!store.getState().isDirty) announce('There is nothing to save');
  else if (await saver.save()) announce('Saved');
}

type Workflow = components['schemas']['Workflow'];

/** A workflow with its ETag, which changes send as `If-Match`. */
export interface WorkflowRecord {
  workflow: Workflow;
  etag: string;
}

type WorkflowChange = Partial<
  Pick<
    Workflow,
    | 'title'
    | 'data'
    | 'is_chat'
    | 'is_tool'
    | 'market_title'
    | 'short_description'
    | 'available_languages'
    | 'readme_guide'
    | 'max_run_cost'
  >
> & { from_draft?: true; draft_etag?: string };

export async function readWorkflow(id: number, signal?: AbortSignal): Promise<WorkflowRecord> {
  const path = { params: { path: { id } }, ...(signal === undefined ? {} : { signal }) };
  return toRecord(await api.GET('/api/v1/workflows/{id}/', path));
}

/**
 * Throws a `ServiceError` with status 412, without changing anything, if somebody else has changed the workflow, or if
 * the draft no longer has the ETag `draft_etag`.
 */
async function changeWorkflow(id: number, etag: string, body: WorkflowChange): Promise<WorkflowRecord> {
  const params = { path: { id }, header: { 'If-Match': etag } };
  return toRecord(await api.PATCH('/api/v1/workflows/{id}/', { params, body }));
}

async function restoreVersion(id: number, etag: string, version: number): Promise<WorkflowRecord> {
  const params = { path: { id, version }, header: { 'If-Match': etag } };
  return toRecord(await api.POST('/api/v1/workflows/{id}/versions/{version}/restore/', { params }));
}

export async function publishWorkflow(id: number): Promise<WorkflowRecord> {
  return toRecord(await api.POST('/api/v1/workflows/{id}/publish-on-marketplace/', { params: { path: { id } } }));
}

export async function unpublishWorkflow(id: number): Promise<WorkflowRecord> {
  return toRecord(await api.POST('/api/v1/workflows/{id}/unpublish-from-marketplace/', { params: { path: { id } } }));
}

function toRecord({ data, error, response }: { data?: Workflow; error?: unknown; response: Response }): WorkflowRecord {
  if (data === undefined) throw new ServiceError(response, error);
  return { workflow: data, etag: response.headers.get('ETag') ?? '*' };
}

/** Saves unsaved changes. Resolves to false if the person has to resolve a conflict first. Rejects if a save fails. */
export async function saveFirst(saver: Saver): Promise<boolean> {
  const isSaved = await saver.save();
  const { error } = saver.getState();
  if (error !== undefined) throw error;
  return isSaved;
}
