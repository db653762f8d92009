// A list of runs: its columns, and the call that keeps it current.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { api, unwrap, type paths } from '../../service/api.js';
import { Duration, Money, RunningFor, Time } from '../../ui/figures.js';
import { Status } from '../../ui/status.js';
import type { Column } from '../../ui/table.js';
import { runWord } from '../../live/run-word.js';
import './run-list.css';

type List = paths['/api/v1/runs/']['get'];

export type RunPage = List['responses'][200]['content']['application/json'];
export type ListedRun = RunPage['items'][number];

const WAITS: Readonly<Record<NonNullable<ListedRun['waiting_for']>, string>> = {
  approval: 'for an approval',
  human: 'for an answer',
  connection: 'for a sign-in',
  callback: 'for a call',
  time: 'for a time',
  child: 'for another run',
  worker: 'for a worker',
};

/** The columns of a run without its name, for which each list has its own column. */
export const RUN_COLUMNS: readonly Column<ListedRun>[] = [
  { heading: 'Started', cell: (run) => <Time at={run.run_started_at ?? run.created_at} /> },
  {
    heading: 'Status',
    cell: (run) => (
      <span className="run-list-status">
        <Status status={runWord(run)} />
        {run.waiting_for !== null && <span className="run-list-more">{WAITS[run.waiting_for]}</span>}
        {run.error !== null && <code className="run-list-error">{run.error.code}</code>}
      </span>
    ),
  },
  {
    heading: 'Duration',
    isFigure: true,
    cell: (run) =>
      run.status === 'In Progress' && run.run_started_at !== null ? (
        <RunningFor since={run.run_started_at} />
      ) : (
        <Duration ms={run.duration === null ? null : run.duration * 1000} />
      ),
  },
  { heading: 'Cost', isFigure: true, cell: (run) => <Money amount={run.cost} /> },
];

const OPEN_EVERY_MS = 2_500;
const QUIET_EVERY_MS = 15_000;

/** Polls the list, more often while a listed run is open. Does not poll while the browser tab is hidden. */
export function useRunList(query: NonNullable<List['parameters']['query']>): UseQueryResult<RunPage> {
  return useQuery({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/runs/', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ status }) => status === 'In Progress') === true ? OPEN_EVERY_MS : QUIET_EVERY_MS,
  });
}
