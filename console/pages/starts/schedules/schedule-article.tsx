import { Link } from 'wouter';
import { Problem } from '../../../app/problem.js';
import { useChange } from '../../../app/queries.js';
import { Button } from '../../../ui/button.js';
import { Time } from '../../../ui/figures.js';
import { inWords, OVERLAPS } from './schedule-fields.js';
import { changeSchedule, type Schedule } from './use-schedules.js';

interface ScheduleArticleProps {
  workflowId: number;
  schedule: Schedule;
  mayChange: boolean;
  onEdit: () => void;
  onDelete: () => void;
}

export function ScheduleArticle({ workflowId, schedule, mayChange, onEdit, onDelete }: ScheduleArticleProps) {
  const heading = `schedule-${schedule.id}`;
  const isPaused = schedule.is_paused;
  const change = useChange(() => changeSchedule(workflowId, schedule.id, { is_paused: !isPaused }), {
    invalidates: ['schedules'],
    said: isPaused ? 'The schedule is resumed.' : 'The schedule is paused.',
  });
  return (
    <article className="start" aria-labelledby={heading}>
      <div className="starts-head">
        <h3 id={heading}>{inWords(schedule.cron) ?? schedule.cron}</h3>
        <span className="start-kind">
          <code>{schedule.cron}</code>, {schedule.time_zone}
        </span>
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

/** In the person's own time zone, whatever that of the schedule is. */
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
