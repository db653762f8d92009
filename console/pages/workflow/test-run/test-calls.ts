// The calls that the console makes while a person tries a drawing.
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { api, ServiceError, unwrap, type paths } from '../../../service/api.js';
import type { Drawing } from '../../../drawing/drawing.js';
import { isObject, ownValue, type JsonObject } from '../../../ui/json.js';
import { announce } from '../../../ui/notices.js';
import type { Pin, TestMode } from './test-store.js';

export type Estimate =
  paths['/api/v1/workflows/{id}/estimate/']['post']['responses'][200]['content']['application/json'];

export const MODE_WORDS: Readonly<Record<TestMode, string>> = {
  node: 'Only this node',
  up_to: 'Up to here',
  from: 'From here',
};

export interface TestRequest {
  mode: TestMode;
  node: string;
  /** The iteration in which a node in the body of a loop is tried. */
  path?: string;
  /** The drawing as it is in the editor, saved or not. */
  drawing: Drawing;
  /** Without an input the trigger is taken like any other node. */
  input: JsonObject | undefined;
}

/** Starts a test run, and returns its id. A refusal is thrown as a `ServiceError`. */
export async function startTest(
  workflowId: number,
  { input, skipsWaits, ...request }: TestRequest & { skipsWaits: boolean },
  idempotencyKey: string,
): Promise<string> {
  const { data } = await unwrap(
    api.POST('/api/v1/workflows/{id}/test/', {
      params: { path: { id: workflowId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: { ...request, skip_waits: skipsWaits, use_pins: true, mocks: {}, ...(input !== undefined && { input }) },
    }),
  );
  return data.id!;
}

/** Returns what a test would call, and the most that it may cost. */
export function useEstimate(workflowId: number, { input, ...request }: TestRequest): UseQueryResult<Estimate> {
  const body = { ...request, ...(input !== undefined && { input }) };
  return useQuery({
    queryKey: ['workflow', workflowId, 'estimate', body],
    queryFn: ({ signal }) =>
      unwrap(api.POST('/api/v1/workflows/{id}/estimate/', { params: { path: { id: workflowId } }, body, signal })),
    placeholderData: (before) => before,
    gcTime: 0,
  });
}

/** Returns the ids of the nodes whose results are missing; undefined if the error is another one. */
export function missingOf(error: unknown): string[] | undefined {
  if (!(error instanceof ServiceError) || error.code !== 'results_missing') return undefined;
  const missing = ownValue(error.body, 'missing');
  return Array.isArray(missing) ? missing.map(String) : [];
}

/**
 * Returns the pins of a workflow. A save may make them stale, so `etag` names the stored drawing with which they were
 * compared.
 */
export function usePins(workflowId: number, etag: string): UseQueryResult<Pin[]> {
  return useQuery({
    queryKey: ['workflow', workflowId, 'pins', etag],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/workflows/{id}/pins/', { params: { path: { id: workflowId } }, signal })),
    placeholderData: (before) => before,
    staleTime: 30_000,
  });
}

type PinBody = NonNullable<
  paths['/api/v1/workflows/{id}/pins/{node_id}/']['put']['requestBody']
>['content']['application/json'];

/** Pins a result to a node, in an iteration if `path` names one, or removes its pin (null). */
export function useChangePin(
  workflowId: number,
  { nodeId, path }: { nodeId: string; path: string },
  onDone?: () => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: PinBody | null) => {
      const params = { path: { id: workflowId, node_id: nodeId }, ...(path !== '' && { query: { path } }) };
      if (body === null) await unwrap(api.DELETE('/api/v1/workflows/{id}/pins/{node_id}/', { params }));
      else await unwrap(api.PUT('/api/v1/workflows/{id}/pins/{node_id}/', { params, body }));
    },
    onSuccess: async (_, body) => {
      announce(body === null ? 'The pin is removed.' : 'The result is pinned.');
      onDone?.();
      await queries.invalidateQueries({ queryKey: ['workflow', workflowId, 'pins'] });
    },
  });
}

/** Returns the JSON that a pin holds: its result, or its error under the key `error`. */
export function contentOfPin({ result, error }: Pin): JsonObject {
  return error === null ? (result ?? {}) : { error };
}

/** Returns what is sent for the JSON that a person has written. */
export function toPinBody(written: JsonObject): PinBody {
  const { error, ...rest } = written;
  const isError = isObject(error) && Object.keys(rest).length === 0;
  return isError ? { error: error as { code: string; message?: string } } : { result: written };
}
