import { Link } from 'wouter';
import { Time, useNow } from '../../ui/figures.js';
import type { Approval } from './approval-types.js';
import { approvalsOf } from './outcome-sentence.js';
import { remainingText } from './remaining.js';

const TICK_MS = 20_000;

/** A request of an agent, or a human task. */
type Asked = Pick<
  Approval,
  'requested_by' | 'workflow' | 'project' | 'run_id' | 'node_id' | 'node_label' | 'path' | 'created_at' | 'expires_at'
> & { status: string };

function isApproval(request: Asked | Approval): request is Approval {
  return 'arguments_hash' in request;
}

/** Who asks, where, and until when. */
export function RequestFacts({ request }: { request: Asked | Approval }) {
  const { requested_by: asker, workflow, project, run_id: runId, node_id: nodeId, path } = request;
  const node = new URLSearchParams({ node: nodeId, ...(path === '' ? {} : { path }) });
  return (
    <dl className="request-facts">
      <dt>Asked by</dt>
      <dd>{asker.name}</dd>
      <dt>Workflow</dt>
      <dd>
        <Link href={`/workflows/${workflow.id}`}>{workflow.title}</Link> in {project.name}
      </dd>
      <dt>Node</dt>
      <dd>
        <Link href={`/runs/${runId}?${node.toString()}`}>{request.node_label || nodeId}</Link>
        {path !== '' && <> at {path}</>}
      </dd>
      <dt>Asked at</dt>
      <dd>
        <Time at={request.created_at} />
      </dd>
      {isApproval(request) && (request.required > 1 || request.edited_arguments !== null) && (
        <>
          <dt>Approvals</dt>
          <dd>
            {approvalsOf(request)} of {request.required}
            <Decisions request={request} />
          </dd>
        </>
      )}
      {request.status === 'pending' && (
        <>
          <dt>Answer until</dt>
          <dd>
            <Time at={request.expires_at} /> <Remaining until={request.expires_at} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** Who has decided so far. */
function Decisions({ request: { decisions, arguments_hash: hash } }: { request: Approval }) {
  if (decisions.length === 0) return null;
  return (
    <ul aria-label="Decisions">
      {decisions.map((made) => (
        <li key={`${made.decided_by.id} ${made.decided_at}`}>
          {made.decided_by.name} {made.decision} <Time at={made.decided_at} />
          {made.arguments_hash !== hash && ', of earlier arguments'}
          {made.reason !== '' && `: ${made.reason}`}
        </li>
      ))}
    </ul>
  );
}

function Remaining({ until }: { until: string }) {
  const now = useNow(TICK_MS);
  return <strong className="request-remaining">{remainingText(Date.parse(until), now)}</strong>;
}
