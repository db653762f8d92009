import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { explain } from '../../app/explain.js';
import { SelectField } from '../../ui/fields.js';
import { Alert, Loading, Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import type { ApprovalFilter } from './approvals.js';
import { listApprovals, listTasks } from './inbox-calls.js';
import './inbox.css';
import { RequestArticle } from './request-article.js';
import { TaskArticle } from './task-article.js';
import { useWaiting, useWaitingTasks, WaitingList, WaitingTasks } from './waiting.js';

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

const PAGE_SIZE = 20;

interface EndedListProps<Item, Outcome extends string> {
  /** The first part of the queries' key. */
  name: string;
  /** `request`: what one of the items is called. */
  noun: string;
  /** The first one is chosen where the address names none. */
  outcomes: readonly { value: Outcome; label: string }[];
  list: (
    query: { status: Outcome; page: number; size: number },
    signal: AbortSignal,
  ) => Promise<{ items: Item[]; total: number; size: number }>;
  idOf: (item: Item) => string;
  /** `onChange`: the item is no longer as it was listed. */
  children: (item: Item, onChange: () => void) => ReactNode;
}

/** What has ended, by how it has: `?outcome=&page=`. */
function EndedList<Item, Outcome extends string>(props: EndedListProps<Item, Outcome>) {
  const { name, noun, outcomes, list, idOf, children } = props;
  const [search, setSearch] = useSearchParams();
  const status = (outcomes.find(({ value }) => value === search.get('outcome')) ?? outcomes[0])!.value;
  const page = Math.max(1, Math.trunc(Number(search.get('page'))) || 1);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [name, status, 'list', page],
    queryFn: ({ signal }) => list({ status, page, size: PAGE_SIZE }, signal),
    placeholderData: (before) => before,
  });
  const set = (key: string, value: string): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('page');
      next.set(key, value);
      return next;
    });
  return (
    <>
      <div className="inbox-filter">
        <SelectField label="Outcome" value={status} options={outcomes} onChange={(value) => set('outcome', value)} />
        {data !== undefined && <p>{data.total === 1 ? `1 ${noun}` : `${data.total} ${noun}s`}</p>}
      </div>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data?.items.length === 0 && <Note>No {noun} has ended this way yet.</Note>}
      <div className="inbox-list" aria-busy={isFetching}>
        {data?.items.map((item) => (
          <Fragment key={idOf(item)}>{children(item, () => void refetch())}</Fragment>
        ))}
      </div>
      {data !== undefined && (
        <Pager page={page} size={data.size} total={data.total} onPage={(next) => set('page', String(next))} />
      )}
    </>
  );
}

const APPROVAL_OUTCOMES = [
  { value: 'decided', label: 'Approved and rejected' },
  { value: 'approved', label: 'Approved' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
] as const satisfies { value: ApprovalFilter; label: string }[];

function DecidedList() {
  return (
    <EndedList
      name="approvals"
      noun="request"
      outcomes={APPROVAL_OUTCOMES}
      list={listApprovals}
      idOf={(request) => request.request_id}
    >
      {(request, onChange) => <RequestArticle request={request} onChange={onChange} isLinked />}
    </EndedList>
  );
}

const TASK_OUTCOMES = [
  { value: 'answered', label: 'Answered' },
  { value: 'expired', label: 'Expired' },
] as const;

/** The tasks that the person could have answered, and that have ended. */
function EndedTasks() {
  return (
    <EndedList name="tasks" noun="task" outcomes={TASK_OUTCOMES} list={listTasks} idOf={(task) => task.id}>
      {(task, onChange) => <TaskArticle task={task} onChange={onChange} isLinked />}
    </EndedList>
  );
}
