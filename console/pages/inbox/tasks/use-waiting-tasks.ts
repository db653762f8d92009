import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keepPlaces, listTasks, type Task } from './task-data.js';

export const MOST_TASKS = 50;

/** The tasks that wait for the person, as a list in which nothing moves by itself. It lasts as long as the page. */
export function useWaitingTasks() {
  const [shown, setShown] = useState<readonly Task[]>([]);
  const [seen, setSeen] = useState<readonly Task[]>();
  const list = useQuery({
    queryKey: ['tasks', 'pending'],
    queryFn: ({ signal }) => listTasks({ status: 'pending', page: 1, size: MOST_TASKS }, signal),
    refetchInterval: ASK_EVERY_MS,
  });
  if (list.data !== undefined && list.data.items !== seen) {
    setSeen(list.data.items);
    setShown(keepPlaces(shown, list.data.items));
  }
  return {
    list,
    shown,
    /** Undefined until the first answer. */
    total: list.data?.total,
    change: (changed: Task) => setShown(shown.map((task) => (task.id === changed.id ? changed : task))),
  };
}
