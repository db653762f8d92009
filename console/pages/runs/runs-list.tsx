import { useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Pager } from '../../ui/table.js';
import { mergePage } from './merge-page.js';
import type { RunsPageData } from './runs-data.js';
import { RunsTable } from './runs-table.js';

interface RunsListProps {
  data: RunsPageData;
  /** What is shown is that of the filters before. */
  isStale: boolean;
  onPage: (page: number) => void;
}

/** A page of runs: rows change in place, and do not move while somebody aims at one of them. */
export function RunsList({ data, isStale, onPage }: RunsListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<RunsPageData>();
  useLayoutEffect(() => {
    const isAimedAt = frame.current?.matches(':hover, :focus-within') ?? false;
    if (!isStale) setShown((before) => (before === undefined || !isAimedAt ? data : before));
  }, [data, isStale]);
  const { rows, newCount } = mergePage(isStale ? undefined : shown, data);
  return (
    <div ref={frame} className={isStale ? 'runs-list runs-stale' : 'runs-list'} aria-busy={isStale || undefined}>
      {newCount > 0 && (
        <div className="runs-new">
          <Button variant="quiet" onClick={() => setShown(data)}>
            {newCount === 1 ? 'Show 1 new run' : `Show ${newCount} new runs`}
          </Button>
        </div>
      )}
      {rows.length > 0 ? <RunsTable runs={rows} /> : <p className="table-empty">There are no runs on this page.</p>}
      <Pager page={data.page} size={data.size} total={data.total} onPage={onPage} />
    </div>
  );
}
