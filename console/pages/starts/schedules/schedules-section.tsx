import { useState } from 'react';
import { Problem } from '../../../app/problem.js';
import { Button } from '../../../ui/button.js';
import { Loading, Note } from '../../../ui/notices.js';
import { DeleteSchedule } from './delete-schedule.js';
import { ScheduleArticle } from './schedule-article.js';
import { ScheduleDialog } from './schedule-dialog.js';
import { useSchedules, type Schedule } from './use-schedules.js';

type Open = { dialog: 'form'; schedule?: Schedule } | { dialog: 'delete'; schedule: Schedule };

interface SchedulesSectionProps {
  workflowId: number;
  mayChange: boolean;
}

/** The times at which runs of the workflow start. */
export function SchedulesSection({ workflowId, mayChange }: SchedulesSectionProps) {
  const { data, error, refetch, isFetching } = useSchedules(workflowId);
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <section className="starts-section" aria-labelledby="schedules-heading">
      <div className="starts-head">
        <h2 id="schedules-heading">Schedules</h2>
        {mayChange && <Button onClick={() => setOpen({ dialog: 'form' })}>New schedule</Button>}
      </div>
      <p className="starts-lead">A schedule starts runs by the clock, each with the same input.</p>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data === undefined && error === null && <Loading />}
      {data?.length === 0 && <p className="starts-empty">The workflow has no schedules.</p>}
      {!mayChange && data !== undefined && data.length > 0 && (
        <Note>Your role in this project is viewer. Its editors make, pause and delete schedules.</Note>
      )}
      {data?.map((schedule) => (
        <ScheduleArticle
          key={schedule.id}
          workflowId={workflowId}
          schedule={schedule}
          mayChange={mayChange}
          onEdit={() => setOpen({ dialog: 'form', schedule })}
          onDelete={() => setOpen({ dialog: 'delete', schedule })}
        />
      ))}
      {open?.dialog === 'form' && <ScheduleDialog workflowId={workflowId} of={open.schedule} onClose={close} />}
      {open?.dialog === 'delete' && <DeleteSchedule workflowId={workflowId} of={open.schedule} onClose={close} />}
    </section>
  );
}
