import { useState } from 'react';
import { Problem } from '../../service/problem.js';
import { useProjects } from '../../service/projects.js';
import { useSearchState, useTyped } from '../../service/search-state.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Alert, Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { DropZone, ImportButton, ImportDialogs, useImport } from '../../parts/import.js';
import { NameProject } from '../../parts/project/name-project.js';
import { ORDERS, useTags, useWorkflows, type Filters } from './list-calls.js';
import { NewWorkflowDialog } from './new-workflow-dialog.js';
import { WorkflowTable } from './workflow-table.js';
import './workflows-page.css';

export function WorkflowsPage() {
  const { get, set, page } = useSearchState();
  const filters: Filters = {
    project: /^[1-9]\d{0,8}$/.test(get('project')) ? get('project') : '',
    tag: get('tag'),
    search: get('search'),
    order: get('order'),
    page,
  };
  const [search, setSearch] = useTyped(filters.search, (text) => set({ search: text }));
  const [chosen, setMaking] = useState<'workflow' | 'project'>();
  // The dialog `Go to` links here with `?new=workflow` or `?new=project`, which opens the dialog for a new one.
  const making = chosen ?? get('new');
  const close = (): void => {
    setMaking(undefined);
    if (get('new') !== '') set({ new: '' });
  };
  const projects = useProjects();
  const { data: all = [] } = projects;
  const chosenProject = all.find(({ id }) => String(id) === filters.project);
  const tags = useTags(filters.project === '' ? all : all.filter((each) => each === chosenProject));
  const importing = useImport(filters.project);
  const workflows = useWorkflows(filters);
  const { data } = workflows;
  const error = workflows.error ?? projects.error;
  const clear = (): void => {
    setSearch('');
    set({ project: '', tag: '', search: '' }, { isStep: true });
  };
  const retry = (): void => {
    void workflows.refetch();
    void projects.refetch();
  };
  return (
    <DropZone onFiles={importing.take}>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <ImportButton isBusy={importing.isBusy} onFiles={importing.take} />
            <Button onClick={() => setMaking('project')}>New project</Button>
            <Button variant="primary" onClick={() => setMaking('workflow')}>
              New workflow
            </Button>
          </>
        }
      />
      <div className="workflows-filters">
        <SelectField
          label="Project"
          value={filters.project}
          options={[
            { value: '', label: 'All projects' },
            ...all.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(project) => set({ project, tag: '' }, { isStep: true })}
        />
        {(tags.length > 0 || filters.tag !== '') && (
          <SelectField
            label="Tag"
            value={filters.tag}
            options={[{ value: '', label: 'Any tag' }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
            onChange={(tag) => set({ tag }, { isStep: true })}
          />
        )}
        <SelectField
          label="Order"
          value={filters.order}
          options={ORDERS}
          onChange={(order) => set({ order }, { isStep: true })}
        />
        <SearchField label="Search workflows" value={search} onChange={setSearch} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      <Problem error={error} onRetry={retry} isRetrying={workflows.isFetching} />
      {workflows.isPending && <Loading label="Loading workflows" />}
      {data !== undefined && data.total === 0 && (
        <EmptyWorkflows
          isFiltered={
            filters.search !== '' || filters.tag !== '' || (filters.project !== '' && chosenProject === undefined)
          }
          isOneProject={chosenProject !== undefined}
          onClear={clear}
          onNew={() => setMaking('workflow')}
        />
      )}
      {data !== undefined && data.total > 0 && (
        <WorkflowTable
          workflows={data.items}
          projects={all}
          isBusy={workflows.isPlaceholderData}
          onTag={(tag) => set({ tag }, { isStep: true })}
        />
      )}
      {data !== undefined && (
        <Pager
          page={data.page}
          size={data.size}
          total={data.total}
          onPage={(next) => set({ page: next === 1 ? '' : String(next) })}
        />
      )}
      {making === 'workflow' && <NewWorkflowDialog project={filters.project} onClose={close} />}
      {making === 'project' && (
        <NameProject
          onClose={close}
          onNamed={(id) => set({ project: String(id), tag: '', new: '' }, { isStep: true })}
        />
      )}
      <ImportDialogs importing={importing} />
    </DropZone>
  );
}

interface EmptyWorkflowsProps {
  isFiltered: boolean;
  isOneProject: boolean;
  onClear: () => void;
  onNew: () => void;
}

function EmptyWorkflows({ isFiltered, isOneProject, onClear, onNew }: EmptyWorkflowsProps) {
  const all = <Button onClick={onClear}>Show all workflows</Button>;
  if (isFiltered) {
    return (
      <div className="workflows-empty">
        <p>No workflow matches.</p>
        {all}
      </div>
    );
  }
  return (
    <div className="workflows-empty">
      <p>
        {isOneProject && 'This project has no workflow yet. '}A workflow is a graph of what should happen: a trigger,
        requests, questions to a model, conditions. Draw your first one, or take one that others have published.
      </p>
      <div className="workflows-empty-actions">
        {/* A different name from the button in the header, which opens the same dialog. */}
        <Button variant="primary" onClick={onNew}>
          Draw the first workflow
        </Button>
        <ButtonLink to="/marketplace">Look at the marketplace</ButtonLink>
        {isOneProject && all}
      </div>
    </div>
  );
}
