// The service calls for test runs and pins.
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { api, ServiceError, unwrap, type paths } from '../../../service/api.js';
import type { Drawing } from '../../../drawing/drawing.js';
import { isObject, ownValue, type JsonObject } from '../../../../graph/json.js';
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
  /** Iteration in which a node inside loops is tested. */
  path?: string;
  /** The editor's drawing, including unsaved changes. */
  drawing: Drawing;
  /** Set if `********` in the drawing stands for values of the person's draft. */
  from_draft?: true;
  /**
   * Undefined: the input is that of the trigger's pin, else, if the test does not execute the trigger, that of an
   * earlier run, else empty.
   */
  input: JsonObject | undefined;
}

/** Starts a test run and returns its id. Throws a `ServiceError` if refused. */
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

/**
 * Loads the calls that a test would make, and its maximum cost. While another input or drawing is estimated, the data
 * are those of the estimate before.
 */
export function useEstimate(workflowId: number, request: TestRequest): UseQueryResult<Estimate> {
  const { mode, node, path = '' } = request;
  const test = JSON.stringify([mode, node, path]);
  return useQuery({
    queryKey: ['workflow', workflowId, 'estimate', test, request],
    queryFn: ({ signal }) => estimateTest(workflowId, request, signal),
    // A person must not confirm the calls and the cost of another test.
    placeholderData: (before, query) => (query?.queryKey[3] === test ? before : undefined),
    gcTime: 0,
  });
}

export function estimateTest(
  workflowId: number,
  { input, ...request }: TestRequest,
  signal?: AbortSignal,
): Promise<Estimate> {
  const body = { ...request, ...(input !== undefined && { input }) };
  return unwrap(
    api.POST('/api/v1/workflows/{id}/estimate/', {
      params: { path: { id: workflowId } },
      body,
      ...(signal !== undefined && { signal }),
    }),
  );
}

/** Returns the ids of the nodes whose calls may change something. */
export function effectsOf({ calls }: Estimate): string[] {
  return calls.filter((call) => call.has_side_effects).map((call) => call.node_id);
}

/**
 * If the service refused a test with `results_missing`, returns the ids of the nodes whose results the test needs but
 * lacks, and of the loops whose items it lacks. Returns undefined for any other error.
 */
export function missingOf(error: unknown): string[] | undefined {
  if (!(error instanceof ServiceError) || error.code !== 'results_missing') return undefined;
  const missing = ownValue(error.body, 'missing');
  return Array.isArray(missing) ? missing.map(String) : [];
}

/** Loads the pins of a workflow. `etag` identifies the stored drawing, because a save may make pins stale. */
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

/** Pins a result to a node, in the iteration `path` if not empty; null removes the pin. */
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

/** Returns the JSON of a pin: its result, or its error as `error`. */
export function contentOfPin({ result, error }: Pin): JsonObject {
  return error === null ? (result ?? {}) : { error };
}

/** Converts edited JSON to a request: an object with only `error` pins an error. */
export function toPinBody(written: JsonObject): PinBody {
  const { error, ...rest } = written;
  const isError = isObject(error) && Object.keys(rest).length === 0;
  return isError ? { error: error as { code: string; message?: string } } : { result: written };
}
