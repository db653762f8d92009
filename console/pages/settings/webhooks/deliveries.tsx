import { useState } from 'react';
import { Link } from 'wouter';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Time } from '../../../ui/figures.js';
import { Loading } from '../../../ui/notices.js';
import { Status } from '../../../ui/status.js';
import { Pager, Table, type Column } from '../../../ui/table.js';
import { sendAgain, useDeliveries, type Delivery } from './use-deliveries.js';

interface DeliveriesProps {
  projectId: number;
  maySendAgain: boolean;
}

export function Deliveries({ projectId, maySendAgain }: DeliveriesProps) {
  const [page, setPage] = useState(1);
  const { data, error, refetch, isFetching } = useDeliveries(projectId, page);
  const change = useChange((deliveryId: string) => sendAgain(projectId, deliveryId), {
    invalidates: ['deliveries'],
    said: 'The event is sent once more.',
  });
  const columns = columnsOf(maySendAgain ? (id) => change.mutate(id) : undefined, change.isPending);
  return (
    <section className="settings-tab" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Problem error={change.error} />
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <>
          <Table
            label="Deliveries"
            columns={columns}
            rows={data.items}
            keyOf={({ id }) => id}
            empty="No event has been sent. With an address that is switched on, the next run sends one."
          />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
        </>
      )}
    </section>
  );
}

function columnsOf(onSendAgain: ((id: string) => void) | undefined, isBusy: boolean): Column<Delivery>[] {
  return [
    { heading: 'Event', cell: ({ type }) => <code>{type}</code>, isName: true },
    {
      heading: 'Run',
      cell: ({ run_id: id }) => (id === null ? '–' : <Link href={`/runs/${id}`}>{id.slice(0, 8)}</Link>),
    },
    { heading: 'Status', cell: ({ status }) => <Status status={status} /> },
    { heading: 'Attempts', cell: ({ attempts }) => attempts, isFigure: true },
    { heading: 'Last answer', cell: answerOf },
    { heading: 'Created', cell: (row) => <Time at={row.created_at} /> },
    { heading: 'Next attempt', cell: (row) => <Time at={row.next_attempt_at} /> },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      cell: ({ id, status }) =>
        onSendAgain === undefined || status === 'pending' ? null : (
          <Button variant="quiet" disabled={isBusy} onClick={() => onSendAgain(id)}>
            Send again
          </Button>
        ),
    },
  ];
}

function answerOf({ response_status: status, error }: Delivery): string {
  return [status === null ? undefined : String(status), error].filter(Boolean).join(', ') || '–';
}
