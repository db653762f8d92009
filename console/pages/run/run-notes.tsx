import { Link } from 'wouter';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { useApprovals, type RunDetail } from './run-data.js';

/** What a person should know of the run before anything else. */
export function RunNotes({ run, labels }: { run: RunDetail; labels: ReadonlyMap<string, string> }) {
  const requests = useApprovals(run.id).data ?? [];
  const pending = run.status === 'In Progress' ? requests.filter(({ status }) => status === 'pending') : [];
  return (
    <>
      {pending.map((request) => (
        <Note key={request.request_id}>
          {labels.get(request.node_id) ?? request.node_label} asks whether it may call {request.tool_name}:{' '}
          <Link href={`/inbox/${encodeURIComponent(request.request_id)}`}>decide in the inbox</Link>.
        </Note>
      ))}
      {run.status === 'Draft' && (
        <Note>This run was refused before it began: fields of its nodes were not valid. Choose a failed node.</Note>
      )}
      {run.error !== null && run.status !== 'Draft' && (
        <Note>
          <code>{run.error.code}</code> {run.error.message}
          {run.error.code === 'budget_exceeded' && <Budget run={run} />}
        </Note>
      )}
      {run.results_expired_at !== undefined && (
        <Note>
          The results of this run have expired: their contents were removed on <Time at={run.results_expired_at} />.
        </Note>
      )}
    </>
  );
}

/** What the code means, and where the limits are. */
function Budget({ run: { workflow, project } }: { run: RunDetail }) {
  return (
    <>
      {' '}
      The run was stopped before a model call that could have passed a limit of money. These can be changed:{' '}
      <Link href={`/costs?project=${project.id}`}>the limit of the project</Link>, that of a run in the menu of{' '}
      <Link href={`/workflows/${workflow.id}`}>the workflow</Link>, and that of an agent in its node.
    </>
  );
}
