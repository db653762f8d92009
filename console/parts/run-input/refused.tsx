import { ServiceError } from '../../service/api.js';
import { explain } from '../../service/explain.js';
import { Alert } from '../../ui/notices.js';
import { refusalsOf } from './refusals.js';

interface RefusedProps {
  error: unknown;
  labels: ReadonlyMap<string, string>;
  onRetry?: () => void;
}

/** Shows why a run was refused, by field if the service names fields. */
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
