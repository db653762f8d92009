import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { explain } from '../../../app/explain.js';
import { Alert } from '../../../ui/alert.js';
import { Note } from '../../../ui/note.js';
import { TaskArticle } from './task-article.js';
import { keepPlaces, listTasks, type Task } from './task-data.js';

const ASK_EVERY_MS = 10_000;
const MOST = 50;

/** The tasks that wait for the person. Nothing is shown where there are none. */
export function WaitingTasks() {
  const [shown, setShown] = useState<readonly Task[]>([]);
  const [seen, setSeen] = useState<readonly Task[]>();
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['tasks', 'pending'],
    queryFn: ({ signal }) => listTasks({ status: 'pending', page: 1, size: MOST }, signal),
    refetchInterval: ASK_EVERY_MS,
  });
  if (data !== undefined && data.items !== seen) {
    setSeen(data.items);
    setShown(keepPlaces(shown, data.items));
  }
  if (error !== null && data === undefined) {
    return (
      <Alert onRetry={() => void refetch()} isRetrying={isFetching}>
        {explain(error)}
      </Alert>
    );
  }
  if (data === undefined || shown.length === 0) return null;
  return (
    <section aria-label="Tasks" className="inbox-list">
      <p>{data.total === 1 ? '1 task waits for you.' : `${data.total} tasks wait for you.`}</p>
      {data.total > MOST && <Note>The newest {MOST} are shown. Those behind them follow when these are answered.</Note>}
      {shown.map((task) => (
        <TaskArticle
          key={task.id}
          task={task}
          onChange={(changed) => setShown(shown.map((one) => (one.id === changed.id ? changed : one)))}
          isLinked
        />
      ))}
    </section>
  );
}
