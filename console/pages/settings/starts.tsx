import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../service/api.js';
import { readAllPages } from '../../service/calls.js';
import { QueryPlaceholder, FailedChoices } from '../../service/problem.js';
import type { Project } from '../../service/projects.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField } from '../../ui/fields.js';
import { Loading, Note } from '../../ui/notices.js';
import { Pager } from '../../ui/table.js';
import { useHooksOfProject, type ShownHook } from '../../parts/starts/hook-data.js';
import { NewHookDialog } from '../../parts/starts/hook-dialogs.js';
import { HookArticles, ShownSecret } from '../../parts/starts/hooks.js';
import { useSchedulesOfProject } from '../../parts/starts/schedule-data.js';
import { ScheduleDialog } from '../../parts/starts/schedule-dialog.js';
import { ScheduleArticles } from '../../parts/starts/schedules.js';
import { StartsList } from '../../parts/starts/starts-list.js';

export function StartsTab({ project }: { project: Project }) {
  return (
    <div className="starts">
      <ProjectSchedules project={project} />
      <ProjectHooks project={project} />
    </div>
  );
}

function ProjectSchedules({ project }: { project: Project }) {
  const [page, setPage] = useState(1);
  const { data, error, refetch, isFetching } = useSchedulesOfProject(project.id, page);
  const [isNew, setIsNew] = useState(false);
  const mayChange = project.role !== 'viewer';
  return (
    <StartsList kind="schedules" onNew={mayChange ? () => setIsNew(true) : undefined}>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.total === 0 && <p className="starts-empty">The project has no schedules.</p>}
      {data !== undefined && (
        <>
          <ScheduleArticles schedules={data.items} mayChange={mayChange} />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
        </>
      )}
      {isNew && (
        <OfChosenWorkflow project={project} title="New schedule" onClose={() => setIsNew(false)}>
          {(workflowId) => <ScheduleDialog workflowId={workflowId} onClose={() => setIsNew(false)} />}
        </OfChosenWorkflow>
      )}
    </StartsList>
  );
}

function ProjectHooks({ project }: { project: Project }) {
  const [page, setPage] = useState(1);
  const { data, error, refetch, isFetching } = useHooksOfProject(project.id, page);
  const [isNew, setIsNew] = useState(false);
  const [shown, setShown] = useState<ShownHook>();
  const mayChange = project.role !== 'viewer';
  return (
    <StartsList kind="hooks" onNew={mayChange ? () => setIsNew(true) : undefined}>
      <ShownSecret hook={shown} onDone={() => setShown(undefined)} />
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {data?.total === 0 && <p className="starts-empty">The project has no hooks.</p>}
      {data !== undefined && (
        <>
          <HookArticles hooks={data.items} mayChange={mayChange} onSecret={setShown} />
          <Pager page={page} size={data.size} total={data.total} onPage={setPage} />
        </>
      )}
      {isNew && (
        <OfChosenWorkflow project={project} title="New hook" onClose={() => setIsNew(false)}>
          {(workflowId) => <NewHookDialog workflowId={workflowId} onClose={() => setIsNew(false)} onMade={setShown} />}
        </OfChosenWorkflow>
      )}
    </StartsList>
  );
}

interface OfChosenWorkflowProps {
  project: Project;
  title: string;
  onClose: () => void;
  children: (workflowId: number) => ReactNode;
}

/** Asks for the workflow, then shows the dialog for it. */
function OfChosenWorkflow({ project, title, onClose, children }: OfChosenWorkflowProps) {
  const workflows = useTitles(project.id);
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState<number>();
  if (chosen !== undefined) return children(chosen);
  const list = workflows.data ?? [];
  const workflow = list.find(({ id }) => String(id) === wanted) ?? list[0];
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button variant="primary" disabled={workflow === undefined} onClick={() => setChosen(workflow?.id)}>
          Next
        </Button>
      }
    >
      <FailedChoices noun="workflows" query={workflows} />
      {workflows.isPending && <Loading />}
      {workflows.data?.length === 0 && <Note>The project has no workflows yet.</Note>}
      {workflow !== undefined && (
        <SelectField
          label="Workflow"
          value={String(workflow.id)}
          onChange={setWanted}
          options={list.map(({ id, title: label }) => ({ value: String(id), label }))}
        />
      )}
    </Dialog>
  );
}

function useTitles(projectId: number) {
  return useQuery({
    queryKey: ['workflows', 'titles-of-project', projectId],
    queryFn: ({ signal }) =>
      readAllPages(async (page) => {
        const query = { project: projectId, page, size: 100 };
        const { items, total } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
        return { total, items: items.map(({ id, title }) => ({ id, title })) };
      }),
    select: (list) => list.toSorted((one, other) => one.title.localeCompare(other.title) || one.id - other.id),
    staleTime: 30_000,
  });
}
