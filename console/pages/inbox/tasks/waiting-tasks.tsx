import { explain } from '../../../app/explain.js';
import { Alert, Note } from '../../../ui/notices.js';
import { TaskArticle } from './task-article.js';
import { MOST_TASKS, type useWaitingTasks } from './use-waiting-tasks.js';

/** The tasks that wait for the person. Nothing is shown where there are none. */
export function WaitingTasks({ tasks }: { tasks: ReturnType<typeof useWaitingTasks> }) {
  const { list, shown, total, change } = tasks;
  if (list.error !== null && total === undefined) {
    return (
      <Alert onRetry={() => void list.refetch()} isRetrying={list.isFetching}>
        {explain(list.error)}
      </Alert>
    );
  }
  if (total === undefined || shown.length === 0) return null;
  return (
    <section aria-label="Tasks" className="inbox-list">
      <p>{total === 1 ? '1 task waits for you.' : `${total} tasks wait for you.`}</p>
      {total > MOST_TASKS && (
        <Note>The newest {MOST_TASKS} are shown. Those behind them follow when these are answered.</Note>
      )}
      {shown.map((task) => (
        <TaskArticle key={task.id} task={task} onChange={change} isLinked />
      ))}
    </section>
  );
}
