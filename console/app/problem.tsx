import { Alert } from '../ui/notices.js';
import { explain, fieldErrors } from './explain.js';

interface ProblemProps {
  error: unknown;
  /** Fields that show their own sentences. */
  fields?: readonly string[];
  sentences?: Readonly<Record<number, string>>;
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** What has failed, unless fields say it beside themselves. */
export function Problem({ error, fields = [], sentences, onRetry, isRetrying = false }: ProblemProps) {
  if (error === null || error === undefined) return null;
  const named = Object.keys(fieldErrors(error));
  if (named.length > 0 && named.every((name) => fields.includes(name))) return null;
  return (
    <Alert onRetry={onRetry} isRetrying={isRetrying}>
      {explain(error, sentences)}
    </Alert>
  );
}
