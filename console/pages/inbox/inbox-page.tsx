import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { QueryPlaceholder } from '../../service/problem.js';
import { useSearchState } from '../../service/search-state.js';
import { SelectField } from '../../ui/fields.js';
import { Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { useConnectionsToSignIn } from '../../parts/connection/connection-calls.js';
import type { ApprovalFilter } from '../../parts/requests/approvals.js';
import { listApprovals, listTasks } from '../../parts/requests/request-calls.js';
import { RequestArticle } from '../../parts/requests/request-article.js';
import { TaskArticle } from '../../parts/requests/task-article.js';
import './inbox.css';
import { useWaiting, useWaitingTasks, WaitingConnections, WaitingList, WaitingTasks } from './waiting.js';

const TABS = ['waiting', 'decided', 'tasks'] as const;

/**
 * Requests to people: tasks and approval requests of runs, and connections that need a sign-in. `?tab=decided` shows
 * ended approval requests, also expired ones, `?tab=tasks` ended tasks.
 */
export function InboxPage() {
  const { get, set } = useSearchState();
  const waiting = useWaiting();
  const tasks = useWaitingTasks();
  const connections = useConnectionsToSignIn();
  const selected = TABS.find((tab) => tab === get('tab')) ?? 'waiting';
  return (
    <div className="inbox">
      <PageHeader title="Inbox" />
      <Tabs
        label="Requests"
        selected={selected}
        onSelect={(tab) => set({ tab: tab === 'waiting' ? '' : tab, outcome: '' }, { isStep: true })}
        tabs={[
          {
            id: 'waiting',
            label: 'Waiting',
            content: (
              <>
                <WaitingConnections query={connections} />
                <WaitingTasks tasks={tasks} />
                <WaitingList waiting={waiting} hasNothingElse={tasks.total === 0 && connections.data?.length === 0} />
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
  /** First part of the query keys. */
  name: string;
  /** Noun for one item, such as `request`. */
  noun: string;
  /** The first outcome is the default. */
  outcomes: readonly { value: Outcome; label: string }[];
  list: (
    query: { status: Outcome; page: number; size: number },
    signal: AbortSignal,
  ) => Promise<{ items: Item[]; total: number; size: number }>;
  idOf: (item: Item) => string;
  /** Call `onChange` when the item has changed. */
  children: (item: Item, onChange: () => void) => ReactNode;
}

/** Ended items with the outcome and the page that the address names: `?outcome=&page=`. */
function EndedList<Item, Outcome extends string>(props: EndedListProps<Item, Outcome>) {
  const { name, noun, outcomes, list, idOf, children } = props;
  const { get, page, set } = useSearchState();
  const status = (outcomes.find(({ value }) => value === get('outcome')) ?? outcomes[0])!.value;
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [name, status, 'list', page],
    queryFn: ({ signal }) => list({ status, page, size: PAGE_SIZE }, signal),
    placeholderData: (before) => before,
  });
  const show = (change: Readonly<Record<string, string>>): void => set(change, { isStep: true });
  return (
    <>
      <div className="inbox-filter">
        <SelectField label="Outcome" value={status} options={outcomes} onChange={(outcome) => show({ outcome })} />
        {data !== undefined && <p>{data.total === 1 ? `1 ${noun}` : `${data.total} ${noun}s`}</p>}
      </div>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.items.length === 0 && <Note>No {noun} has ended this way yet.</Note>}
      <div className="inbox-list" aria-busy={isFetching}>
        {data?.items.map((item) => (
          <Fragment key={idOf(item)}>{children(item, () => void refetch())}</Fragment>
        ))}
      </div>
      {data !== undefined && (
        <Pager page={page} size={data.size} total={data.total} onPage={(next) => show({ page: String(next) })} />
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

/** Ended tasks that the person could have answered. */
function EndedTasks() {
  return (
    <EndedList name="tasks" noun="task" outcomes={TASK_OUTCOMES} list={listTasks} idOf={(task) => task.id}>
      {(task, onChange) => <TaskArticle task={task} onChange={onChange} isLinked />}
    </EndedList>
  );
}
