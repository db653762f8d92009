import { useUser } from '../../app/session.js';
import { Time } from '../../ui/figures.js';
import type { Approval } from './approval-types.js';
import { outcomeSentence } from './outcome-sentence.js';

/** How the request has ended, who has decided, when, and why. */
export function Outcome({ request }: { request: Approval }) {
  const user = useUser();
  return (
    <>
      <p>
        <strong>{outcomeSentence(request, user?.id)}</strong>{' '}
        {request.decided_at !== null && <Time at={request.decided_at} />}
      </p>
      {request.reason !== '' && <p className="request-reason">Reason: {request.reason}</p>}
    </>
  );
}
