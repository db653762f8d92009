import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../../app/api.js';
import { explain } from '../../../app/explain.js';
import { Dialog } from '../../../ui/dialog.js';
import { Alert, Loading } from '../../../ui/notices.js';
import { parseExact } from '../../../drawing/json.js';
import type { RunDetail } from '../run-data.js';
import { InputForm } from './input-form.js';

interface InputDialogProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  onClose: () => void;
}

/** Runs the workflow again with another input than the run's. */
export function InputDialog({ run, labels, onClose }: InputDialogProps) {
  const input = useQuery({ queryKey: ['run-input', run.id], queryFn: ({ signal }) => readInput(run.id, signal) });
  if (input.data !== undefined) {
    return <InputForm run={run} labels={labels} initial={input.data} onClose={onClose} />;
  }
  return (
    <Dialog title="Run workflow" onClose={onClose} isWide>
      {input.isError ? (
        <Alert onRetry={() => void input.refetch()} isRetrying={input.isFetching}>
          {explain(input.error)}
        </Alert>
      ) : (
        <Loading label="Loading the input" />
      )}
    </Dialog>
  );
}

/** As JSON text: numbers of an input are kept as they are written, which a parsed answer would not do. */
async function readInput(runId: string, signal: AbortSignal): Promise<string> {
  const call = api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: runId } }, parseAs: 'text', signal });
  const run = parseExact(await unwrap(call)) as { input_data?: unknown };
  return JSON.stringify(run.input_data ?? {}, null, 2);
}
