import type { ComponentType } from 'react';
import { explain, isNotFound } from '../../../app/explain.js';
import { Alert, Loading } from '../../../ui/notices.js';
import type { NodeDetail } from '../run-data.js';
import type { useNodeDetail } from './node-detail.js';

interface DetailTabProps {
  query: ReturnType<typeof useNodeDetail>;
  tab: ComponentType<{ detail: NodeDetail }>;
}

/** A tab whose content is read when the node is shown. */
export function DetailTab({ query, tab: Tab }: DetailTabProps) {
  if (query.data !== undefined) return <Tab detail={query.data} />;
  if (!query.isError) return <Loading />;
  // It lives for a moment only in the memory of the run: nothing of it is stored yet.
  if (isNotFound(query.error)) return <p className="node-hint">Nothing is known of this node yet.</p>;
  return (
    <Alert onRetry={() => void query.refetch()} isRetrying={query.isFetching}>
      {explain(query.error)}
    </Alert>
  );
}
