import { Component, type ReactNode } from 'react';
import { Alert } from '../ui/alert.js';
import { explain } from './explain.js';

/** What a page throws while it renders stays in the page: the way to the others remains. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Alert onRetry={() => location.reload()}>{explain(error)}</Alert>;
  }
}
