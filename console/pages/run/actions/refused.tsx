import { ServiceError } from '../../../app/api.js';
import { explain } from '../../../app/explain.js';
import { Alert } from '../../../ui/notices.js';
import { refusalsOf } from './refusal.js';

interface RefusedProps {
  error: unknown;
  labels: ReadonlyMap<string, string>;
  onRetry?: () => void;
}

/** Why a run was not started, field by field where the service says so. */
export function Refused({ error, labels, onRetry }: RefusedProps) {
  const refusals = error instanceof ServiceError ? refusalsOf(error.body, labels) : [];
  const isRefusal = error instanceof ServiceError && error.status === 400;
  return (
    <Alert onRetry={isRefusal ? undefined : onRetry}>
      {refusals.length === 0 ? explain(error) : 'The workflow cannot run with this input as it is now:'}
      {refusals.length > 0 && (
        <ul>
          {refusals.map((refusal) => (
            <li key={refusal}>{refusal}</li>
          ))}
        </ul>
      )}
    </Alert>
  );
}
