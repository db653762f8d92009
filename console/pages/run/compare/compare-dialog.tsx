import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../../app/api.js';
import { explain } from '../../../app/explain.js';
import { Dialog } from '../../../ui/dialog.js';
import { Duration, Money, Time } from '../../../ui/figures.js';
import { Alert, Loading } from '../../../ui/notices.js';
import { Status } from '../../../ui/status.js';
import { Pager } from '../../../ui/table.js';
import type { RunDetail } from '../run-data.js';
import { runWord } from '../run-word.js';
import './compare-dialog.css';

interface CompareDialogProps {
  run: RunDetail;
  onChoose: (otherId: string) => void;
  onClose: () => void;
}

const SIZE = 10;

/** Chooses another run of the same workflow. */
export function CompareDialog({ run, onChoose, onClose }: CompareDialogProps) {
  const [page, setPage] = useState(1);
  const query = { workflow: run.workflow.id, page, size: SIZE };
  const runs = useQuery({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/runs/', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const others = runs.data?.items.filter(({ id }) => id !== run.id) ?? [];
  return (
    <Dialog title="Compare runs" onClose={onClose}>
      <p>Choose the run of {run.workflow.title} to compare with:</p>
      {runs.isPending && <Loading />}
      {runs.isError && (
        <Alert onRetry={() => void runs.refetch()} isRetrying={runs.isFetching}>
          {explain(runs.error)}
        </Alert>
      )}
      {runs.data !== undefined && others.length === 0 && <p>There is no other run of this workflow here.</p>}
      <ul className="compare-runs" aria-label="Runs to compare with">
        {others.map((other) => (
          <li key={other.id}>
            <button type="button" className="compare-run" onClick={() => onChoose(other.id)}>
              <Time at={other.run_started_at ?? other.created_at} />
              <Status status={runWord(other)} />
              <Duration ms={other.duration === null ? null : other.duration * 1000} />
              <Money amount={other.cost} />
              <span className="compare-run-version">Version {other.workflow_version}</span>
            </button>
          </li>
        ))}
      </ul>
      {runs.data !== undefined && <Pager page={page} size={SIZE} total={runs.data.total} onPage={setPage} />}
    </Dialog>
  );
}
