// Service calls about the assistant of a workflow (docs/use/assistants.md, "In the editor").
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap, type components } from '../../../service/api.js';

export type Assistant = components['schemas']['Assistant'];

export function assistantQuery(workflowId: number) {
  return queryOptions({
    queryKey: ['assistant', workflowId],
    queryFn: ({ signal }) => {
      return unwrap(api.GET('/api/v1/workflows/{id}/assistant/', { params: { path: { id: workflowId } }, signal }));
    },
  });
}

/** Sets the model of the assistant. Begins the conversation if there is none. */
export function chooseModel(workflowId: number, model: string): Promise<Assistant> {
  const params = { path: { id: workflowId } };
  return unwrap(api.PUT('/api/v1/workflows/{id}/assistant/', { params, body: { model } }));
}
