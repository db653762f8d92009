import type { UseQueryResult } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { Alert, Loading } from '../ui/notices.js';
import { explain, fieldErrors } from './explain.js';

interface ProblemProps {
  error: unknown;
  /** Fields that show their own sentences. */
  fields?: readonly string[];
  sentences?: Readonly<Record<number, string>>;
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** Says what has failed, unless fields say it beside themselves. */
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

/** Stands in place of what a query has not answered: it waits, or says why it has failed. */
export function Awaited({ data, error, refetch, isFetching }: Pick<UseQueryResult, 'data' | keyof Failure>) {
  return (
    <>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
    </>
  );
}

type Failure = Pick<UseQueryResult, 'error' | 'isFetching' | 'refetch'>;

interface FailedChoicesProps {
  /** The noun of the choices: `projects`. */
  noun: string;
  query: Failure;
}

/** Stands in place of choices that could not be read: a list without them looks as if there were none. */
export function FailedChoices({ noun, query: { error, isFetching, refetch } }: FailedChoicesProps) {
  if (error === null) return null;
  return (
    <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
      The {noun} to choose from are missing. {explain(error)}
    </Alert>
  );
}

/**
 * Catches what a part throws while it renders, or because it could not be loaded. Everything around the part remains,
 * above all the way to other pages and unsaved changes.
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

/** Rendering calls nothing, so a TypeError is a mistake of the page, unless a part of it could not be loaded. */
function sentenceOf(error: unknown): string {
  const isMistake = error instanceof TypeError && !/import/i.test(error.message);
  return isMistake ? `Something went wrong in this page: ${error.message}` : explain(error);
}
