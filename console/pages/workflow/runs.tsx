import { useState } from 'react';
import { Link } from 'wouter';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Loading } from '../../ui/notices.js';
import { Pager, Table, type Column } from '../../ui/table.js';
import { RUN_COLUMNS, useRunList, type ListedRun } from '../../parts/run/run-list.js';
import { Drawer } from './drawer.js';
import './editor.css';
import { useTest, useTests } from './test-run/use-tests.js';

const SIZE = 10;

/** The runs of the workflow, newest first. The nodes of each can be shown on the canvas. */
export function Runs({ workflowId, onClose }: { workflowId: number; onClose: () => void }) {
  const tests = useTests();
  const shown = useTest((state) => state.run?.runId);
  const [page, setPage] = useState(1);
  const { data, error, refetch, isFetching, isPending } = useRunList({ workflow: workflowId, page, size: SIZE });
  const newest = data?.page === 1 ? data.items[0]?.id : undefined;
  const show = (id: string): void => tests.startRun({ runId: id, isEarlier: id !== newest });
  return (
    <Drawer name="Runs" isBusy={isPending} onClose={onClose}>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {isPending && <Loading label="Loading the runs" />}
      {data?.total === 0 && <p className="field-hint">This workflow has not run yet. Run starts it.</p>}
      {data !== undefined && data.total > 0 && (
        <div className="run-list">
          <Table label="Runs" hasCards columns={columnsOf(shown, show)} rows={data.items} keyOf={({ id }) => id} />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
          <Link href={`/runs?workflow=${workflowId}`}>All runs with filters</Link>
        </div>
      )}
    </Drawer>
  );
}

function columnsOf(shown: string | undefined, show: (runId: string) => void): Column<ListedRun>[] {
  return [
    {
      heading: 'Run',
      isName: true,
      cell: ({ id }) => (
        <span className="runs-actions">
          <Button variant="quiet" aria-pressed={id === shown} onClick={() => show(id)}>
            Show on canvas
          </Button>
          <Link href={`/runs/${id}`}>Open run</Link>
        </span>
      ),
    },
    ...RUN_COLUMNS,
  ];
}
