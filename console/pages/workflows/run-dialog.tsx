import { useQuery } from '@tanstack/react-query';
import { startRun } from '../../../clients/typescript/src/index.js';
import { Refused } from '../../parts/run-input/refused.js';
import { useRunInput } from '../../parts/run-input/run-input-form.js';
import { fieldsOf, type RunField } from '../../parts/run-input/run-input.js';
import { useNewRun } from '../../parts/run/new-run.js';
import { runLabels } from '../../drawing/run-links.js';
import { api, unwrap } from '../../service/api.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import type { ListedWorkflow } from './list-calls.js';

export type RunnableWorkflow = Pick<ListedWorkflow, 'id' | 'title' | 'project'>;

interface RunDialogProps {
  workflow: RunnableWorkflow;
  onClose: () => void;
}

/** Asks for the input, starts a run and opens its page. */
export function RunDialog({ workflow, onClose }: RunDialogProps) {
  const { id } = workflow;
  const asked = useQuery({
    queryKey: ['workflow', id, 'run-dialog'],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      const [fields, { data }] = await Promise.all([
        unwrap(api.GET('/api/v1/workflows/{id}/input-fields/', { params, signal })),
        unwrap(api.GET('/api/v1/workflows/{id}/', { params, signal })),
      ]);
      return { fields: fieldsOf(fields), labels: runLabels(data) };
    },
    gcTime: 0,
  });
  return (
    <Dialog title="Run workflow" holdsText onClose={onClose}>
      <p>
        <strong>{workflow.title}</strong> runs as it is saved.
      </p>
      {asked.data === undefined ? (
        <QueryPlaceholder {...asked} />
      ) : (
        <RunForm workflow={workflow} {...asked.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RunFormProps extends RunDialogProps {
  fields: readonly RunField[];
  labels: ReadonlyMap<string, string>;
}

function RunForm({ workflow: { id, project }, fields, labels, onClose }: RunFormProps) {
  const { input, form } = useRunInput({ fields, projectId: project });
  const run = useNewRun((wish: unknown, idempotencyKey) => startRun(api, id, wish, { idempotencyKey }));
  const start = (): void => run.mutate(input, { onSuccess: onClose });
  return (
    <form
      className="new-workflow"
      onSubmit={(event) => {
        event.preventDefault();
        if (!run.isPending && input !== undefined) start();
      }}
    >
      {form}
      {run.isError && <Refused error={run.error} labels={labels} onRetry={start} />}
      <Button type="submit" variant="primary" isBusy={run.isPending} disabled={input === undefined}>
        Start run
      </Button>
    </form>
  );
}
