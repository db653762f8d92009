import { useMutation } from '@tanstack/react-query';
import { ViewportPortal } from '@xyflow/react';
import { useState, type ReactNode } from 'react';
import { nodesOf, positionOf, startOf, type DrawnNode } from '../../drawing/drawing.js';
import { useEditor, useStore } from '../../drawing/editor-store.js';
import { CARD_WIDTH } from '../../drawing/flow-nodes.js';
import { Problem } from '../../service/problem.js';
import { useChange } from '../../service/queries.js';
import { ComingTime } from '../../ui/figures.js';
import { Menu } from '../../ui/menu.js';
import { announce } from '../../ui/notices.js';
import { useStored } from '../../ui/store.js';
import { useHooks, type Hook } from '../../parts/starts/hook-data.js';
import { changeSchedule, inWords, useSchedules, type Schedule } from '../../parts/starts/schedule-data.js';
import type { Saver } from './saver.js';
import './start-cards.css';
import { StartDialog, type OpenStart } from './start-dialog.js';

interface StartCardsProps {
  saver: Saver;
  onRun: () => void;
}

/** Cards above the start node: one each for starts by hand, every schedule, every hook, the chat and the MCP tool. */
export function StartCards(props: StartCardsProps) {
  const start = useEditor(({ history: { present } }) => nodesOf(present).get(startOf(present) ?? ''));
  return start === undefined ? null : <Cards {...props} start={start} />;
}

function Cards({ saver, onRun, start }: StartCardsProps & { start: DrawnNode }) {
  const { isReadOnly } = useStore();
  const { id, is_chat: isChat, is_tool: isTool } = useStored(saver, (state) => state.workflow);
  const [open, setOpen] = useState<OpenStart>();
  const schedules = useSchedules(id);
  const hooks = useHooks(id);
  const hasFailed = schedules.isError || hooks.isError;
  const retry = (): void => {
    void schedules.refetch();
    void hooks.refetch();
  };
  const offer = useMutation({
    mutationFn: (what: 'chat' | 'tool') => saver.changeDetails({ [`is_${what}`]: true }),
    onSuccess: (_, what) => announce(`The workflow is offered as a ${what}`),
  });
  const { x, y } = positionOf(start);
  return (
    <>
      <ViewportPortal>
        <div
          className="start-cards"
          style={{ width: CARD_WIDTH, transform: `translate(${x}px, ${y}px) translateY(calc(-100% - 20px))` }}
        >
          <ul aria-label="Starts" className="start-cards-list">
            {!isReadOnly && (
              <li>
                <Card onOpen={onRun}>By hand</Card>
              </li>
            )}
            {(schedules.data ?? []).map((schedule) => (
              <li key={schedule.id}>
                <ScheduleCard
                  schedule={schedule}
                  workflowId={id}
                  onOpen={() => setOpen({ what: 'schedule', schedule })}
                />
              </li>
            ))}
            {(hooks.data ?? []).map((hook) => (
              <li key={hook.id}>
                <HookCard hook={hook} onOpen={() => setOpen({ what: 'hook', hookId: hook.id })} />
              </li>
            ))}
            {isChat && (
              <li>
                <Card onOpen={() => setOpen({ what: 'chat' })}>By chat</Card>
              </li>
            )}
            {isTool && (
              <li>
                <Card onOpen={() => setOpen({ what: 'tool' })}>As a tool</Card>
              </li>
            )}
          </ul>
          {hasFailed && (
            <button type="button" className="start-card nopan" onClick={retry}>
              Schedules and hooks are not loaded: try again
            </button>
          )}
          <Problem error={offer.error} />
          {!isReadOnly && (
            <Menu
              label="New start"
              align="start"
              items={[
                { label: 'New schedule', onSelect: () => setOpen({ what: 'schedule' }) },
                { label: 'New hook', onSelect: () => setOpen({ what: 'new-hook' }) },
                !isChat && { label: 'Offer as chat', onSelect: () => offer.mutate('chat') },
                !isTool && { label: 'Offer as tool', onSelect: () => offer.mutate('tool') },
                { label: 'All starts', to: `/workflows/${id}/starts` },
              ].filter((item) => item !== false)}
            >
              + New start
            </Menu>
          )}
        </div>
      </ViewportPortal>
      {open !== undefined && (
        <StartDialog
          saver={saver}
          open={open}
          hooks={hooks.data ?? []}
          onOpen={setOpen}
          // The dialog for a new hook calls `onClose` after it has opened the hook's own dialog, which stays open.
          onClose={() => setOpen((current) => (current === open ? undefined : current))}
        />
      )}
    </>
  );
}

function Card({ onOpen, children }: { onOpen: () => void; children: ReactNode }) {
  return (
    <button type="button" className="start-card nopan" onClick={onOpen}>
      {children}
    </button>
  );
}

interface ScheduleCardProps {
  schedule: Schedule;
  workflowId: number;
  onOpen: () => void;
}

function ScheduleCard({ schedule, workflowId, onOpen }: ScheduleCardProps) {
  const { isReadOnly } = useStore();
  const isPaused = schedule.is_paused;
  const change = useChange(() => changeSchedule(workflowId, schedule.id, { is_paused: !isPaused }), {
    invalidates: ['schedules'],
    announcement: isPaused ? 'The schedule is resumed.' : 'The schedule is paused.',
  });
  const words = inWords(schedule.cron) ?? schedule.cron;
  const next = schedule.next_run_times?.[0];
  return (
    <>
      <Card onOpen={onOpen}>
        <span className="start-card-name">{words}</span>
        {isPaused && <span className="start-card-more">paused</span>}
        {!isPaused && next !== undefined && (
          <span className="start-card-more">
            next <ComingTime at={next} />
          </span>
        )}
      </Card>
      {!isReadOnly && (
        <button
          type="button"
          role="switch"
          className="start-card-switch"
          aria-checked={!isPaused}
          aria-label={`Schedule ${words}`}
          aria-busy={change.isPending}
          title={isPaused ? 'Resume the schedule' : 'Pause the schedule'}
          onClick={() => !change.isPending && change.mutate()}
        />
      )}
      <Problem error={change.error} />
    </>
  );
}

function HookCard({ hook, onOpen }: { hook: Hook; onOpen: () => void }) {
  return (
    <Card onOpen={onOpen}>
      <span className="start-card-name">Hook {hook.id}</span>
      {hook.inactive_reason !== null && <span className="start-card-more">starts no runs</span>}
    </Card>
  );
}
