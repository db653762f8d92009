import { api, ServiceError, type components } from '../../app/api.js';

export type Workflow = components['schemas']['Workflow'];

/** A workflow as it was read, with the tag that a change names (`If-Match`). */
export interface WorkflowRecord {
  workflow: Workflow;
  etag: string;
}

export type WorkflowChange = Partial<
  Pick<
    Workflow,
    'title' | 'data' | 'market_title' | 'short_description' | 'available_languages' | 'readme_guide' | 'max_run_cost'
  >
>;

export async function readWorkflow(id: number, signal?: AbortSignal): Promise<WorkflowRecord> {
  const path = { params: { path: { id } }, ...(signal === undefined ? {} : { signal }) };
  return toRecord(await api.GET('/api/v1/workflows/{id}/', path));
}

/** Throws a `ServiceError` with status 412, and changes nothing, where somebody else has changed the workflow. */
export async function changeWorkflow(id: number, etag: string, body: WorkflowChange): Promise<WorkflowRecord> {
  const params = { path: { id }, header: { 'If-Match': etag } };
  return toRecord(await api.PATCH('/api/v1/workflows/{id}/', { params, body }));
}

export async function restoreVersion(id: number, etag: string, version: number): Promise<WorkflowRecord> {
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
