import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { cancelRun } from './chat-calls.js';

interface QueuedProps {
  workflowId: number;
  runId: string;
  mayWrite: boolean;
  onChanged: () => Promise<void>;
}

export function Queued({ workflowId, runId, mayWrite, onChanged }: QueuedProps) {
  const cancelling = useMutation({ mutationFn: () => cancelRun(workflowId, runId), onSettled: onChanged });
  return (
    <div className="chat-queued">
      <p>Queued: it is answered after the messages before it.</p>
      {mayWrite && (
        <Button variant="quiet" isBusy={cancelling.isPending} onClick={() => cancelling.mutate()}>
          Take back
        </Button>
      )}
      <Problem error={cancelling.error} />
    </div>
  );
}

/** A message whose run is not streamed, because too many runs are open (`MOST_FOLLOWED` in messages.ts). */
export function Unanswered({ isQueued, ...queued }: QueuedProps & { isQueued: boolean }) {
  return (
    <article className="chat-answer" aria-label="Answer">
      {isQueued ? (
        <Queued {...queued} />
      ) : (
        <p className="chat-hint">
          There is no answer yet. <Link href={`/runs/${queued.runId}`}>Run</Link>
        </p>
      )}
    </article>
  );
}
