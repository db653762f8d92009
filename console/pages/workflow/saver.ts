// Saves the drawing, one save at a time, and only if nobody else has changed it meanwhile.
import { api, ServiceError, type components } from '../../service/api.js';
import type { EditorStore } from '../../drawing/editor-store.js';
import { isEqualJson } from '../../ui/json.js';
import { announce } from '../../ui/notices.js';
import { createStore, type Store, type Stored } from '../../ui/store.js';

interface SaverState {
  workflow: Workflow;
  /** The tag of the stored workflow, which the next change names. */
  etag: string;
  isSaving: boolean;
  error: unknown;
  /** The workflow that somebody else has saved meanwhile (412). A person chooses. */
  conflict: WorkflowRecord | undefined;
}

export class Saver implements Stored<SaverState> {
  readonly #store: EditorStore;
  readonly #state: Store<SaverState>;
  readonly getState: () => SaverState;
  readonly subscribe: Stored<SaverState>['subscribe'];
  #running: Promise<boolean> | undefined;

  constructor(store: EditorStore, record: WorkflowRecord) {
    this.#store = store;
    this.#state = createStore<SaverState>({ ...record, isSaving: false, error: undefined, conflict: undefined });
    this.getState = this.#state.getState;
    this.subscribe = this.#state.subscribe;
  }

  /** Returns whether everything is saved now. Without a change nothing is sent. */
  readonly save = async (): Promise<boolean> => {
    while (this.#running !== undefined) await this.#running;
    if (!this.#store.getState().isDirty) {
      // The change that could not be saved may have been undone since.
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

  /** Changes everything but the drawing. It throws the service's error. If that is a 412, a person is asked as well. */
  async changeDetails(change: Omit<WorkflowChange, 'data'>): Promise<void> {
    await this.#change(({ workflow, etag }) => changeWorkflow(workflow.id, etag, change));
  }

  /** Shows the drawing of an earlier version. It throws as `changeDetails` does. */
  async restore(version: number): Promise<void> {
    const restored = await this.#change(({ workflow, etag }) => restoreVersion(workflow.id, etag, version));
    this.#store.takeOver(restored.workflow.data);
  }

  /** Takes over the service's answer to a change that this page has made on top of what it knew. */
  adopt({ workflow, etag }: WorkflowRecord): void {
    this.#set({ workflow, etag, error: undefined });
  }

  /** Saves the drawing of this page over the other one. */
  readonly keepMine = async (): Promise<boolean> => {
    const { conflict } = this.getState();
    if (conflict === undefined) return false;
    // The drawing of this page is saved even if nothing was changed here, because the service has the other one.
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

  /** Decides for neither drawing. Everything stays as it is, unsaved. */
  readonly decideLater = (): void => this.#set({ conflict: undefined });

  async #send(): Promise<boolean> {
    const { drawing } = this.#store;
    this.#set({ isSaving: true, error: undefined });
    try {
      const { workflow, etag } = this.getState();
      const record = await changeWorkflow(workflow.id, etag, { data: drawing });
      this.adopt(record);
      this.#store.markSaved(drawing, record.workflow.data);
      return true;
    } catch (error) {
      if (isConflict(error)) await this.#meet();
      else this.#set({ error });
      return !this.#store.getState().isDirty;
    } finally {
      this.#set({ isSaving: false });
    }
  }

  /** Changes and saves are made one after the other, because each returns the tag that the next one names. */
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
      this.adopt(record);
      return record;
    } catch (error) {
      if (isConflict(error)) await this.#meet();
      throw error;
    }
  }

  async #meet(): Promise<void> {
    try {
      const theirs = await readWorkflow(this.getState().workflow.id);
      const { drawing } = this.#store;
      if (!isEqualJson(theirs.workflow.data, drawing)) {
        this.#set({ conflict: theirs });
        return;
      }
      // Both drawings are the same, for example after an own save whose answer was lost on the way.
      this.adopt(theirs);
      this.#store.markSaved(drawing, theirs.workflow.data);
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

/** Saves because a person asked for it, and announces the outcome. */
export async function saveAndTell(store: EditorStore, saver: Saver): Promise<void> {
  if (!store.getState().isDirty) announce('There is nothing to save');
  else if (await saver.save()) announce('Saved');
}

type Workflow = components['schemas']['Workflow'];

/** A workflow as it was read, with the tag that a change names (`If-Match`). */
export interface WorkflowRecord {
  workflow: Workflow;
  etag: string;
}

type WorkflowChange = Partial<
  Pick<
    Workflow,
    'title' | 'data' | 'market_title' | 'short_description' | 'available_languages' | 'readme_guide' | 'max_run_cost'
  >
>;

export async function readWorkflow(id: number, signal?: AbortSignal): Promise<WorkflowRecord> {
  const path = { params: { path: { id } }, ...(signal === undefined ? {} : { signal }) };
  return toRecord(await api.GET('/api/v1/workflows/{id}/', path));
}

/** Throws a `ServiceError` with status 412, and changes nothing, if somebody else has changed the workflow. */
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
