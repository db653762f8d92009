import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../../app/api.js';
import { FailedChoices } from '../../../app/problem.js';
import { readAllPages } from '../../../app/calls.js';
import { useSearchState } from '../../../app/search-state.js';
import { SelectField } from '../../../ui/fields.js';
import { Note } from '../../../ui/notices.js';
import { StartsSections } from '../../starts/starts-sections.js';
import type { Project } from '../use-projects.js';

/** What starts the runs of a project by itself, workflow by workflow; `?workflow=`. */
export function StartsTab({ project }: { project: Project }) {
  const { get, set } = useSearchState();
  const workflows = useQuery({
    queryKey: ['workflows', 'titles-of-project', project.id],
    queryFn: ({ signal }) =>
      readAllPages(async (page) => {
        const query = { project: project.id, page, size: 100 };
        const { items, total } = await unwrap(api.GET('/api/v1/all-workflows/', { params: { query }, signal }));
        return { total, items: items.map(({ id, title }) => ({ id, title })) };
      }),
    select: (list) => list.toSorted((one, other) => one.title.localeCompare(other.title) || one.id - other.id),
    staleTime: 30_000,
  });
  const list = workflows.data ?? [];
  const workflow = list.find(({ id }) => String(id) === get('workflow')) ?? list[0];
  return (
    <div className="settings-tab">
      <p className="settings-lead">
        Runs of a workflow can start by the clock, and other services can start them. The page of each workflow has this
        under Starts by itself, too.
      </p>
      <FailedChoices noun="workflows" query={workflows} />
      {workflows.data?.length === 0 && <Note>The project has no workflows yet.</Note>}
      {workflow !== undefined && (
        <>
          <div className="settings-row">
            <SelectField
              label="Workflow"
              value={String(workflow.id)}
              onChange={(id) => set({ workflow: id })}
              options={list.map(({ id, title }) => ({ value: String(id), label: title }))}
            />
          </div>
          <StartsSections key={workflow.id} workflowId={workflow.id} role={project.role} />
        </>
      )}
    </div>
  );
}
