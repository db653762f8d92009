import type { UseQueryResult } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { Alert, Loading } from '../ui/notices.js';
import { explain, fieldErrors, mayTryAgain } from './explain.js';

interface ProblemProps {
  error: unknown;
  /** Fields that show their own errors. */
  fields?: readonly string[];
  sentences?: Readonly<Record<number, string>>;
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** Shows why a call failed, unless each error belongs to one of `fields`. */
export function Problem({ error, fields = [], sentences, onRetry, isRetrying = false }: ProblemProps) {
  if (error === null || error === undefined) return null;
  const named = Object.keys(fieldErrors(error));
  if (named.length > 0 && named.every((name) => fields.includes(name))) return null;
  return (
    <Alert onRetry={mayTryAgain(error) ? onRetry : undefined} isRetrying={isRetrying}>
      {explain(error, sentences)}
    </Alert>
  );
}

/** Shows that a query is loading, or why its last call failed, even if it has data of an earlier call. */
export function QueryPlaceholder({ data, error, refetch, isFetching }: Pick<UseQueryResult, 'data' | keyof Failure>) {
  return (
    <>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
    </>
  );
}

type Failure = Pick<UseQueryResult, 'error' | 'isFetching' | 'refetch'>;

interface FailedChoicesProps {
  /** Plural noun of the choices: `projects`. */
  noun: string;
  query: Failure;
}

/** Says that choices could not be loaded, because an empty list alone would look as if none existed. */
export function FailedChoices({ noun, query: { error, isFetching, refetch } }: FailedChoicesProps) {
  if (error === null) return null;
  return (
    <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
      The {noun} to choose from are missing. {explain(error)}
    </Alert>
  );
}

/**
 * Catches errors from rendering or loading a part. The rest of the page stays, so that people can navigate and
 * save their changes.
 */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Alert onRetry={() => location.reload()}>{sentenceOf(error)}</Alert>;
  }
}

/** Rendering makes no calls, so a TypeError is a bug of the page, unless it comes from a failed import. */
function sentenceOf(error: unknown): string {
  const isMistake = error instanceof TypeError && !/import/i.test(error.message);
  return isMistake ? `Something went wrong in this page: ${error.message}` : explain(error);
}
