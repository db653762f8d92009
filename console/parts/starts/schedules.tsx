import { useState } from 'react';
import { Link } from 'wouter';
import { ConfirmDelete } from '../../service/confirm-change.js';
import { QueryPlaceholder, Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import {
  changeSchedule,
  deleteSchedule,
  inWords,
  OVERLAPS,
  useSchedules,
  type ListedSchedule,
  type Schedule,
} from './schedule-data.js';
import { ScheduleDialog } from './schedule-dialog.js';
import { StartsList, WorkflowOfStart } from './starts-list.js';

interface SchedulesSectionProps {
  workflowId: number;
  mayChange: boolean;
}

export function SchedulesSection({ workflowId, mayChange }: SchedulesSectionProps) {
  const { data, error, refetch, isFetching } = useSchedules(workflowId);
  const [isNew, setIsNew] = useState(false);
  return (
    <StartsList kind="schedules" onNew={mayChange ? () => setIsNew(true) : undefined}>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.length === 0 && <p className="starts-empty">The workflow has no schedules.</p>}
      {data !== undefined && (
        <ScheduleArticles
          schedules={data.map((schedule) => ({ ...schedule, workflow: { id: workflowId } }))}
          mayChange={mayChange}
        />
      )}
      {isNew && <ScheduleDialog workflowId={workflowId} onClose={() => setIsNew(false)} />}
    </StartsList>
  );
}

interface ScheduleArticlesProps {
  schedules: readonly ListedSchedule[];
  mayChange: boolean;
}

export function ScheduleArticles({ schedules, mayChange }: ScheduleArticlesProps) {
  const [open, setOpen] = useState<{ dialog: 'form' | 'delete'; schedule: ListedSchedule }>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      {!mayChange && schedules.length > 0 && (
        <Note>Your role in this project is viewer. Its editors make, pause and delete schedules.</Note>
      )}
      {schedules.map((schedule) => (
        <ScheduleArticle
          key={schedule.id}
          schedule={schedule}
          mayChange={mayChange}
          onEdit={() => setOpen({ dialog: 'form', schedule })}
          onDelete={() => setOpen({ dialog: 'delete', schedule })}
        />
      ))}
      {open?.dialog === 'form' && (
        <ScheduleDialog workflowId={open.schedule.workflow.id} of={open.schedule} onClose={close} />
      )}
      {open?.dialog === 'delete' && (
        <ConfirmDelete
          noun="schedule"
          remove={() => deleteSchedule(open.schedule.workflow.id, open.schedule.id)}
          invalidates={['schedules']}
          onClose={close}
        >
          It starts no runs from then on. Runs that it has started go on.
        </ConfirmDelete>
      )}
    </>
  );
}

interface ScheduleArticleProps {
  schedule: ListedSchedule;
  mayChange: boolean;
  onEdit: () => void;
  onDelete: () => void;
}

function ScheduleArticle({ schedule, mayChange, onEdit, onDelete }: ScheduleArticleProps) {
  const heading = `schedule-${schedule.id}`;
  const isPaused = schedule.is_paused;
  const change = useChange(() => changeSchedule(schedule.workflow.id, schedule.id, { is_paused: !isPaused }), {
    invalidates: ['schedules'],
    announcement: isPaused ? 'The schedule is resumed.' : 'The schedule is paused.',
  });
  return (
    <article className="card" aria-labelledby={heading}>
      <div className="starts-head">
        <h3 id={heading}>{inWords(schedule.cron) ?? schedule.cron}</h3>
        <span className="start-kind">
          <code>{schedule.cron}</code>, {schedule.time_zone}
        </span>
        <WorkflowOfStart workflow={schedule.workflow} />
      </div>
      {schedule.pause_reason !== null && (
        <p className="start-problem">
          It has paused itself: {schedule.author.name} may not run the workflow any more. Whoever resumes it starts its
          runs from then on.
        </p>
      )}
      <Problem error={change.error} />
      <dl className="start-facts">
        <dt>Next runs</dt>
        <dd>
          <NextTimes schedule={schedule} />
        </dd>
        <dt>While a run is open</dt>
        <dd>{OVERLAPS.find(({ value }) => value === schedule.overlap)?.label}</dd>
        <dt>Starts runs as</dt>
        <dd>{schedule.author.name}</dd>
        <dt>Last firing</dt>
        <dd>
          <LastFiring firing={schedule.last_firing} />
        </dd>
      </dl>
      {mayChange && (
        <div className="start-buttons">
          <Button variant="quiet" isBusy={change.isPending} onClick={() => change.mutate()}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button variant="quiet" onClick={onEdit}>
            Edit
          </Button>
          <Button variant="quiet" onClick={onDelete}>
            Delete
          </Button>
        </div>
      )}
    </article>
  );
}

/** Shown in the person's time zone, not the schedule's. */
function NextTimes({ schedule: { is_paused: isPaused, next_run_times: times } }: { schedule: Schedule }) {
  if (isPaused) return 'Paused';
  if (times === null) return 'Not known at the moment';
  return (
    <ol className="schedule-times">
      {times.map((time) => (
        <li key={time}>
          <Time at={time} />
        </li>
      ))}
    </ol>
  );
}

function LastFiring({ firing }: { firing: Schedule['last_firing'] }) {
  if (firing === null) return 'None yet';
  const { at, run_id: runId, refusal } = firing;
  return (
    <>
      <Time at={at} />
      {runId !== null && (
        <>
          , <Link href={`/runs/${runId}`}>its run</Link>
        </>
      )}
      {refusal !== null && <>, refused: {refusal.message}</>}
    </>
  );
}
