import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { explain } from '../../../app/explain.js';
import { Alert } from '../../../ui/alert.js';
import { Loading } from '../../../ui/loading.js';
import { Note } from '../../../ui/note.js';
import { Pager } from '../../../ui/pager.js';
import { SelectField } from '../../../ui/select-field.js';
import { TaskArticle } from './task-article.js';
import { listTasks } from './task-data.js';

const PAGE_SIZE = 20;
const OUTCOMES = [
  { value: 'answered', label: 'Answered' },
  { value: 'expired', label: 'Expired' },
] as const;

/** The tasks that the person could have answered, and that have ended. */
export function EndedTasks() {
  const [status, setStatus] = useState<'answered' | 'expired'>('answered');
  const [page, setPage] = useState(1);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['tasks', status, page],
    queryFn: ({ signal }) => listTasks({ status, page, size: PAGE_SIZE }, signal),
    placeholderData: (before) => before,
  });
  const choose = (value: string): void => {
    setStatus(value === 'expired' ? 'expired' : 'answered');
    setPage(1);
  };
  return (
    <>
      <div className="inbox-filter">
        <SelectField label="Outcome" value={status} options={OUTCOMES} onChange={choose} />
        {data !== undefined && <p>{data.total === 1 ? '1 task' : `${data.total} tasks`}</p>}
      </div>
      {error !== null && (
        <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
          {explain(error)}
        </Alert>
      )}
      {data === undefined && error === null && <Loading />}
      {data?.items.length === 0 && <Note>No task has ended this way yet.</Note>}
      <div className="inbox-list" aria-busy={isFetching}>
        {data?.items.map((task) => (
          <TaskArticle key={task.id} task={task} onChange={() => void refetch()} isLinked />
        ))}
      </div>
      {data !== undefined && <Pager page={page} size={data.size} total={data.total} onPage={setPage} />}
    </>
  );
}
