import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';

interface StartingWorkflow {
  id: number;
  is_chat: boolean;
  is_tool: boolean;
}

/** Ids of the workflows with a schedule that is not paused, and of those with an active hook. */
export interface ActiveStarts {
  schedules: ReadonlySet<number>;
  hooks: ReadonlySet<number>;
}

const STALE_MS = 30_000;

/** Finds the workflows with active schedules or hooks. Projects that are not loaded count as having none. */
export function useActiveStarts(projectIds: readonly number[]): ActiveStarts {
  return useQueries({
    queries: projectIds.map((projectId) => ({
      queryKey: ['schedules', 'active', projectId],
      queryFn: () => loadActive(projectId),
      staleTime: STALE_MS,
    })),
    combine: (loaded) => ({
      schedules: new Set(loaded.flatMap(({ data }) => data?.schedules ?? [])),
      hooks: new Set(loaded.flatMap(({ data }) => data?.hooks ?? [])),
    }),
  });
}

async function loadActive(projectId: number): Promise<{ schedules: number[]; hooks: number[] }> {
  const paramsOf = (page: number) => ({ params: { path: { id: projectId }, query: { page, size: 100 } } });
  const [schedules, hooks] = await Promise.all([
    readAllPages((page) => unwrap(api.GET('/api/v1/projects/{id}/schedules/', paramsOf(page)))),
    readAllPages((page) => unwrap(api.GET('/api/v1/projects/{id}/hooks/', paramsOf(page)))),
  ]);
  return {
    schedules: schedules.filter(({ is_paused: isPaused }) => !isPaused).map(({ workflow }) => workflow.id),
    hooks: hooks.filter(({ inactive_reason: reason }) => reason === null).map(({ workflow }) => workflow.id),
  };
}

/** Names what starts runs of a workflow, such as a schedule or its chat, as a link to the page of its starts. */
export function StartsOf({ workflow, active }: { workflow: StartingWorkflow; active: ActiveStarts }) {
  const { id, is_chat: isChat, is_tool: isTool } = workflow;
  const names = [
    active.schedules.has(id) && 'schedule',
    active.hooks.has(id) && 'hook',
    isChat && 'chat',
    isTool && 'tool',
  ].filter((name) => name !== false);
  if (names.length === 0) return <span className="figure">–</span>;
  return <Link href={`/workflows/${id}/starts`}>{names.join(', ')}</Link>;
}
