import { EndedList } from '../ended-list.js';
import { TaskArticle } from './task-article.js';
import { listTasks } from './task-data.js';

const TASK_OUTCOMES = [
  { value: 'answered', label: 'Answered' },
  { value: 'expired', label: 'Expired' },
] as const;

/** The tasks that the person could have answered, and that have ended. */
export function EndedTasks() {
  return (
    <EndedList name="tasks" noun="task" outcomes={TASK_OUTCOMES} list={listTasks} idOf={(task) => task.id}>
      {(task, onChange) => <TaskArticle task={task} onChange={onChange} isLinked />}
    </EndedList>
  );
}
