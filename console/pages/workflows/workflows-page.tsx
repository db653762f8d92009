import { useState } from 'react';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { SearchField, SelectField } from '../../ui/fields.js';
import { Alert, Loading } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { Pager } from '../../ui/table.js';
import { DropZone } from './drop-zone.js';
import { EmptyWorkflows } from './empty-workflows.js';
import { ImportButton } from './import-button.js';
import { ImportDialogs } from './import-dialogs.js';
import { NewWorkflowDialog } from './new-workflow-dialog.js';
import { useFilters } from './use-filters.js';
import { useImport } from './use-import.js';
import { useProjects } from './use-projects.js';
import { useWorkflows } from './use-workflows.js';
import { WorkflowTable } from './workflow-table.js';
import './workflows-page.css';

export function WorkflowsPage() {
  const { filters, search, setSearch, setProject, setPage, clear } = useFilters();
  const [isMaking, setIsMaking] = useState(false);
  const projects = useProjects();
  const importing = useImport(filters.project);
  const workflows = useWorkflows(filters);
  const { data } = workflows;
  const error = workflows.error ?? projects.error;
  const hasFilters = filters.search !== '' || filters.project !== '';
  const retry = (): void => {
    void workflows.refetch();
    void projects.refetch();
  };
  return (
    <DropZone onFiles={importing.takeDropped}>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <ImportButton isBusy={importing.isBusy} onFile={importing.take} />
            <Button variant="primary" onClick={() => setIsMaking(true)}>
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
            ...(projects.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={setProject}
        />
        <SearchField label="Search workflows" value={search} onChange={setSearch} />
      </div>
      {importing.error !== undefined && <Alert>{importing.error}</Alert>}
      {error !== null && (
        <Alert onRetry={retry} isRetrying={workflows.isFetching}>
          {explain(error)}
        </Alert>
      )}
      {workflows.isPending && <Loading label="Loading workflows" />}
      {data !== undefined && data.total === 0 && (
        <EmptyWorkflows isFiltered={hasFilters} onClear={clear} onNew={() => setIsMaking(true)} />
      )}
      {data !== undefined && data.total > 0 && (
        <WorkflowTable workflows={data.items} projects={projects.data ?? []} isBusy={workflows.isPlaceholderData} />
      )}
      {data !== undefined && <Pager page={data.page} size={data.size} total={data.total} onPage={setPage} />}
      {isMaking && <NewWorkflowDialog project={filters.project} onClose={() => setIsMaking(false)} />}
      <ImportDialogs importing={importing} />
    </DropZone>
  );
}
