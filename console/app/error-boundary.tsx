import { Component, type ReactNode } from 'react';
import { Alert } from '../ui/notices.js';
import { explain } from './explain.js';

/**
 * What a part throws while it renders, or because it could not be loaded, stays in its place: what is around it remains, the
 * way to other pages and unsaved changes above all.
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

/** Where nothing is asked of the service, a TypeError is a mistake of the page, unless a part of it could not be loaded. */
function sentenceOf(error: unknown): string {
  const isMistake = error instanceof TypeError && !/import/i.test(error.message);
  return isMistake ? `Something went wrong in this page: ${error.message}` : explain(error);
}
