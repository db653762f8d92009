import { useSearchParams } from 'wouter';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { DecidedList } from './decided-list.js';
import './inbox.css';
import { EndedTasks } from './tasks/ended-tasks.js';
import { useWaitingTasks } from './tasks/use-waiting-tasks.js';
import { WaitingTasks } from './tasks/waiting-tasks.js';
import { useWaiting } from './use-waiting.js';
import { WaitingList } from './waiting-list.js';

const TABS = ['waiting', 'decided', 'tasks'] as const;

/** What runs ask people: tasks, and agents' calls. `?tab=decided` is what has been decided, `?tab=tasks` tasks that have ended. */
export function InboxPage() {
  const [search, setSearch] = useSearchParams();
  const waiting = useWaiting();
  const tasks = useWaitingTasks();
  const selected = TABS.find((tab) => tab === search.get('tab')) ?? 'waiting';
  return (
    <div className="inbox">
      <PageHeader title="Inbox" />
      <Tabs
        label="Requests"
        selected={selected}
        onSelect={(tab) => setSearch(tab === 'waiting' ? {} : { tab })}
        tabs={[
          {
            id: 'waiting',
            label: 'Waiting',
            content: (
              <>
                <WaitingTasks tasks={tasks} />
                <WaitingList waiting={waiting} hasNoTasks={tasks.total === 0} />
              </>
            ),
          },
          { id: 'decided', label: 'Decided', content: <DecidedList /> },
          { id: 'tasks', label: 'Ended tasks', content: <EndedTasks /> },
        ]}
      />
    </div>
  );
}
