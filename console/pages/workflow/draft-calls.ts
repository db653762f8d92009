// Calls about the person's unsaved drawing of a workflow (docs/use/api.md, "Drafts").
import { api, ServiceError, unwrap, type components } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import type { DraftCalls, KeptDraft } from './kept-draft.js';

export function draftCalls(workflowId: number): DraftCalls {
  const path = { id: workflowId };
  return {
    read: async () => {
      try {
        return toDraft(await api.GET('/api/v1/workflows/{id}/draft/', { params: { path } }));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    write: async (drawing, version, tag) => {
      // With these headers, the service refuses the write if another editor or the assistant has changed the draft.
      const header = tag === undefined ? { 'If-None-Match': '*' as const } : { 'If-Match': tag };
      const params = { path, header };
      const body = { data: drawing, base_version: version };
      return toDraft(await api.PUT('/api/v1/workflows/{id}/draft/', { params, body }));
    },
    before: async () => {
      try {
        const { run, data } = await unwrap(api.GET('/api/v1/workflows/{id}/assistant/before/', { params: { path } }));
        return { runId: run, drawing: data ?? undefined };
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    remove: async (tag) => {
      try {
        const params = { path, header: { 'If-Match': tag } };
        await unwrap(api.DELETE('/api/v1/workflows/{id}/draft/', { params }));
        return true;
      } catch (error) {
        if (isNotFound(error)) return true;
        if (error instanceof ServiceError && error.status === 412) return false;
        throw error;
      }
    },
  };
}

type Answer = { data?: components['schemas']['Draft']; error?: unknown; response: Response };

function toDraft({ data, error, response }: Answer): KeptDraft {
  if (data === undefined) throw new ServiceError(response, error);
  const { data: drawing, base_version: version, updated_at: savedAt, assistant_run: assistantRun } = data;
  return { drawing, version, savedAt, tag: response.headers.get('ETag') ?? '', assistantRun };
}
