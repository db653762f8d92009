import { Link } from 'wouter';
import { Time } from '../../ui/time.js';
import type { Approval } from './approval-types.js';
import { remainingText } from './remaining.js';
import { useNow } from './use-now.js';

const TICK_MS = 20_000;

/** Who asks, where, and until when. */
export function RequestFacts({ request }: { request: Approval }) {
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

function Remaining({ until }: { until: string }) {
  const now = useNow(TICK_MS);
  return <strong className="request-remaining">{remainingText(Date.parse(until), now)}</strong>;
}
