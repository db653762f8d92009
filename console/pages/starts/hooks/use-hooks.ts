import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../../app/api.js';
import { readAllPages } from '../../../app/calls.js';

const HOOKS = '/api/v1/workflows/{id}/hooks/';
const HOOK = '/api/v1/workflows/{id}/hooks/{hook_id}/';

type Hooks = paths[typeof HOOKS];
export type Hook = Hooks['get']['responses'][200]['content']['application/json']['items'][number];
export type HookBody = NonNullable<Hooks['post']['requestBody']>['content']['application/json'];
/** With its secret, where it asks for signatures. */
export type ShownHook = Hooks['post']['responses'][201]['content']['application/json'];

/** A workflow has at most 20. */
export function useHooks(workflowId: number): UseQueryResult<Hook[]> {
  return useQuery({
    queryKey: ['hooks', workflowId],
    queryFn: ({ signal }) =>
      readAllPages((page) =>
        unwrap(api.GET(HOOKS, { params: { path: { id: workflowId }, query: { page, size: 100 } }, signal })),
      ),
  });
}

export function makeHook(workflowId: number, body: HookBody): Promise<ShownHook> {
  return unwrap(api.POST(HOOKS, { params: { path: { id: workflowId } }, body }));
}

/** Null: the service makes a new one. */
export function replaceSecret(workflowId: number, hookId: number, secret: string | null): Promise<ShownHook> {
  const path = { id: workflowId, hook_id: hookId };
  return unwrap(api.PATCH(HOOK, { params: { path }, body: { secret } }));
}

export function deleteHook(workflowId: number, hookId: number): Promise<unknown> {
  return unwrap(api.DELETE(HOOK, { params: { path: { id: workflowId, hook_id: hookId } } }));
}
