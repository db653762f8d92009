import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reRun } from '../../../clients/typescript/src/index.js';
import { api, unwrap } from '../../service/api.js';
import { Problem } from '../../service/problem.js';
import { parseExact } from '../../ui/json.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/fields.js';
import { Loading } from '../../ui/notices.js';
import { useNewRun } from '../../parts/run/new-run.js';
import { Refused } from '../../parts/run-input/refused.js';
import type { RunDetail } from '../../parts/run/run-data.js';

/** Runs the workflow again and opens the new run. Without `input`, the input of `run` is reused, secrets included. */
export function useReRun(run: RunDetail) {
  return useNewRun(({ input }: { input?: unknown }, idempotencyKey) =>
    reRun(api, run.workflow.id, run.id, { idempotencyKey, ...(input !== undefined && { input }) }),
  );
}

interface InputDialogProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  onClose: () => void;
}

/** Runs the workflow again with an edited input. */
export function InputDialog({ run, labels, onClose }: InputDialogProps) {
  const input = useQuery({ queryKey: ['run-input', run.id], queryFn: ({ signal }) => readInput(run.id, signal) });
  if (input.data !== undefined) {
    return <InputForm run={run} labels={labels} initial={input.data} onClose={onClose} />;
  }
  return (
    <Dialog title="Run workflow" onClose={onClose} isWide>
      {input.isError ? (
        <Problem error={input.error} onRetry={() => void input.refetch()} isRetrying={input.isFetching} />
      ) : (
        <Loading label="Loading the input" />
      )}
    </Dialog>
  );
}

/** Returns the input as JSON text, in newer browsers with the exact digits of its numbers. */
async function readInput(runId: string, signal: AbortSignal): Promise<string> {
  const call = api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: runId } }, parseAs: 'text', signal });
  const run = parseExact(await unwrap(call)) as { input_data?: unknown };
  return JSON.stringify(run.input_data ?? {}, null, 2);
}

interface InputFormProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  /** JSON text of the run's input. */
  initial: string;
  onClose: () => void;
}

function InputForm({ run, labels, initial, onClose }: InputFormProps) {
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const again = useReRun(run);
  const start = (): void => {
    const input = parse(text);
    setProblem(input === undefined ? 'This is not JSON. Texts need quotation marks.' : undefined);
    if (input !== undefined) again.mutate({ input: input.value }, { onSuccess: onClose });
  };
  return (
    <Dialog
      title="Run workflow"
      onClose={onClose}
      isWide
      holdsText
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" isBusy={again.isPending} onClick={start}>
            Start run
          </Button>
        </>
      }
    >
      <p>The workflow runs as it is now.</p>
      <TextField
        label="Input (JSON)"
        rows={14}
        value={text}
        onChange={setText}
        spellCheck={false}
        error={problem}
        hint="What stands as ******** is secret: leave it to use the value of this run."
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
        }}
      />
      {again.isError && <Refused error={again.error} labels={labels} onRetry={start} />}
    </Dialog>
  );
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}
