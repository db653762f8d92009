import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import type { RunEnvelope } from '../../../clients/typescript/src/index.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { api, unwrap } from '../../service/api.js';
import { isNotFound } from '../../service/explain.js';
import { ErrorBoundary, Problem } from '../../service/problem.js';
import { runLabels } from '../../drawing/run-links.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import type { RunDetail } from '../run/run-data.js';
import { changeCase, makeCase, type Case, type Expectation } from './case-calls.js';

const CaseDialog = lazy(() => import('./case-dialog.js').then((part) => ({ default: part.CaseDialog })));

/** The button `Save as case`, shown once the run has ended, until its results expire. */
export function SaveAsCase({ run }: { run: RunDetail }) {
  const [isOpen, setIsOpen] = useState(false);
  const expected = useQuery({
    queryKey: ['run-output', run.id],
    queryFn: ({ signal }) => expectOutput(run.id, signal),
    enabled: isOpen,
    staleTime: Infinity,
  });
  if (run.status === 'In Progress' || run.status === 'Draft' || run.results_expired_at !== undefined) return null;
  return (
    <>
      <Button isBusy={isOpen && expected.isFetching} onClick={() => setIsOpen(true)}>
        Save as case
      </Button>
      {isOpen && expected.isError && (
        <Dialog title="Save as case" onClose={() => setIsOpen(false)}>
          <Problem error={expected.error} onRetry={() => void expected.refetch()} />
        </Dialog>
      )}
      {isOpen && expected.data !== undefined && (
        <ErrorBoundary>
          <Suspense>
            <Opened run={run} expect={expected.data} onClose={() => setIsOpen(false)} />
          </Suspense>
        </ErrorBoundary>
      )}
    </>
  );
}

interface OpenedProps {
  run: RunDetail;
  expect: readonly Expectation[];
  onClose: () => void;
}

function Opened({ run, expect, onClose }: OpenedProps) {
  const made = useRef<number>(undefined);
  const workflowId = run.workflow.id;
  /** Creating and changing are two requests. If the change fails, a retry must not create the case again. */
  const save = async (change: { name: string; expect: Expectation[] | undefined }): Promise<Case> => {
    const { name, expect: changed } = change;
    const known = made.current;
    if (known !== undefined) return changeCase(workflowId, known, { name, ...(changed && { expect: changed }) });
    const saved = await makeCase(workflowId, run.id, name);
    made.current = saved.id;
    return changed === undefined ? saved : changeCase(workflowId, saved.id, { expect: changed });
  };
  return (
    <CaseDialog
      title="Save as case"
      hint="The case has the input of this run. What has side effects is not called: its result is taken from this run."
      name=""
      expect={expect}
      labels={runLabels(run.data)}
      save={save}
      announcement="The case is saved."
      onClose={onClose}
    />
  );
}

const MOST_CHARACTERS = 64 * 1024;

/** Returns undefined if the run has no output. Numbers that a double would round are `ExactNumber`. */
async function readOutput(runId: string, signal: AbortSignal): Promise<unknown> {
  const options = { params: { query: { id: runId } }, parseAs: 'text', signal } as const;
  const text = await unwrap(api.GET('/api/v1/workflows/workflow_result/', options));
  return (parseJson(text) as RunEnvelope).data.output;
}

/** Returns the service's default expectation: the run's output, unless the output is too long. */
async function expectOutput(runId: string, signal: AbortSignal): Promise<Expectation[]> {
  const output = await readOutput(runId, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (output === undefined) return [];
  const right = typeof output === 'string' ? output : output === null ? '' : writeJson(output);
  return right.length > MOST_CHARACTERS ? [] : [{ output: true, path: '', operator: '==', right }];
}
