import type { UseQueryResult } from '@tanstack/react-query';
import { Alert } from '../ui/notices.js';
import { explain } from './explain.js';

interface FailedChoicesProps {
  /** What is to be chosen from: `projects`. */
  noun: string;
  query: Pick<UseQueryResult, 'error' | 'isFetching' | 'refetch'>;
}

/** In place of choices that could not be read: a list without them looks as if there were none. */
export function FailedChoices({ noun, query: { error, isFetching, refetch } }: FailedChoicesProps) {
  if (error === null) return null;
  return (
    <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
      The {noun} to choose from are missing. {explain(error)}
    </Alert>
  );
}
