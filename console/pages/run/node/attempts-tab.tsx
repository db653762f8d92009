import { wordOf } from '../../../live/node-status.js';
import { ClockTime, Duration, RunningFor } from '../../../ui/figures.js';
import { formatDuration } from '../../../ui/format.js';
import { Status } from '../../../ui/status.js';
import { Table, type Column } from '../../../ui/table.js';
import type { Attempt, NodeDetail } from '../run-data.js';

interface Row extends Attempt {
  isWaiting: boolean;
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Attempt', isName: true, cell: ({ number }) => number },
  {
    heading: 'Status',
    cell: (attempt) => (
      <>
        <Status status={statusOf(attempt)} />
        {attempt.error !== null && (
          <span className="node-attempt-error">
            <code>{attempt.error.code}</code> {attempt.error.message}
          </span>
        )}
      </>
    ),
  },
  { heading: 'Started', cell: ({ started_at: at }) => <ClockTime at={at} /> },
  {
    heading: 'Duration',
    isFigure: true,
    cell: ({ started_at: startedAt, finished_at: finishedAt }) =>
      finishedAt === null ? (
        <RunningFor since={startedAt} />
      ) : (
        <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
      ),
  },
];

export function AttemptsTab({ detail }: { detail: NodeDetail }) {
  const { queued_ms: queuedMs, attempts, waiting } = detail;
  const rows = attempts.map((attempt) => ({
    ...attempt,
    isWaiting: waiting !== undefined && attempt.finished_at === null,
  }));
  return (
    <div className="node-part">
      {queuedMs !== null && queuedMs > 0 && (
        <p className="node-hint">In queue for {formatDuration(queuedMs)} before the first attempt.</p>
      )}
      <Table
        label="Attempts"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ number }) => number}
        empty="There was no attempt."
      />
    </div>
  );
}

function statusOf({ status, error, isWaiting }: Row): string {
  return wordOf({ id: '', status, ...(error === null ? {} : { error }) }, isWaiting);
}
