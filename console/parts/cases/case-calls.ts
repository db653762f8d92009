// Service calls about the test cases of a workflow.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type components } from '../../service/api.js';

export type Case = components['schemas']['Case'];
export type CaseRun = components['schemas']['CaseRun'];
export type CaseResult = CaseRun['cases'][number];
export type Expectation = Case['expect'][number];
export type Operator = Expectation['operator'];

/** The service's limit of cases per workflow. */
const MOST_CASES = 100;

export function useCases(workflowId: number): UseQueryResult<Case[]> {
  return useQuery({
    queryKey: ['cases', workflowId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: workflowId }, query: { page: 1, size: MOST_CASES } };
      const { items } = await unwrap(api.GET('/api/v1/workflows/{id}/cases/', { params, signal }));
      return items;
    },
  });
}

const EVERY_MS = 700;

/** Polls a run of cases until it ends. Disabled if the id is empty. */
export function useCaseRun(workflowId: number, caseRunId: string): UseQueryResult<CaseRun> {
  return useQuery({
    queryKey: ['case-run', workflowId, caseRunId],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/workflows/{id}/case-runs/{case_run_id}/', {
          params: { path: { id: workflowId, case_run_id: caseRunId } },
          signal,
        }),
      ),
    enabled: caseRunId !== '',
    refetchInterval: ({ state }) => (state.data?.status === 'in progress' ? EVERY_MS : false),
  });
}

/** Runs the cases in `caseIds`, or all cases if it is absent. Returns the id of the case run. */
export async function runCases(workflowId: number, caseIds?: number[]): Promise<string> {
  const body = caseIds === undefined ? {} : { case_ids: caseIds };
  const { id } = await unwrap(
    api.POST('/api/v1/workflows/{id}/cases/run/', { params: { path: { id: workflowId } }, body }),
  );
  return id;
}

export function cancelCases(workflowId: number, caseRunId: string): Promise<CaseRun> {
  const params = { path: { id: workflowId, case_run_id: caseRunId } };
  return unwrap(api.POST('/api/v1/workflows/{id}/case-runs/{case_run_id}/cancel/', { params }));
}

export function makeCase(workflowId: number, runId: string, name: string): Promise<Case> {
  return unwrap(
    api.POST('/api/v1/workflows/{id}/cases/from-run/', {
      params: { path: { id: workflowId } },
      body: { run_id: runId, name },
    }),
  );
}

export function changeCase(
  workflowId: number,
  caseId: number,
  body: Partial<Pick<Case, 'name' | 'expect' | 'required'>>,
): Promise<Case> {
  return unwrap(
    api.PATCH('/api/v1/workflows/{id}/cases/{case_id}/', {
      params: { path: { id: workflowId, case_id: caseId } },
      body,
    }),
  );
}

export async function removeCase(workflowId: number, caseId: number): Promise<void> {
  const params = { path: { id: workflowId, case_id: caseId } };
  await unwrap(api.DELETE('/api/v1/workflows/{id}/cases/{case_id}/', { params }));
}
