import { Link } from 'wouter';

/** To the run that a node has started. */
export function ChildLink({ runId }: { runId: string }) {
  return (
    <p>
      <Link href={`/runs/${encodeURIComponent(runId)}`}>Open the run that it has started</Link>
    </p>
  );
}
