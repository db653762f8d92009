import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../../app/api.js';
import { explain, isNotFound } from '../../app/explain.js';
import { EditorStore } from '../../drawing/editor-store.js';
import { byType, type NodeKind } from '../../drawing/drawing.js';
import { Alert, Loading } from '../../ui/notices.js';
import { NotFound, PageHeader } from '../../ui/page-header.js';
import { Editor } from './editor.js';
import { Saver } from './saver.js';
import { readWorkflow, type WorkflowRecord } from './workflow-record.js';

/** The editor of one workflow. What is open here is read once: nothing that others save changes it under the hands. */
export function WorkflowPage({ workflowId }: { workflowId: number }) {
  const workflow = useQuery({
    queryKey: ['workflow', workflowId, 'editor'],
    queryFn: ({ signal }) => readWorkflow(workflowId, signal),
    staleTime: Infinity,
    gcTime: 0,
  });
  const kinds = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  const error = workflow.error ?? kinds.error;
  if (isNotFound(workflow.error)) return <NotFound />;
  if (error !== null && (workflow.data === undefined || kinds.data === undefined)) {
    const retry = (): void => {
      if (workflow.isError) void workflow.refetch();
      if (kinds.isError) void kinds.refetch();
    };
    return (
      <>
        <PageHeader title="Workflow" />
        <Alert onRetry={retry} isRetrying={workflow.isFetching || kinds.isFetching}>
          {explain(error)}
        </Alert>
      </>
    );
  }
  if (workflow.data === undefined || kinds.data === undefined) return <Loading label="Loading the workflow" />;
  return <Opened record={workflow.data} kinds={kinds.data} />;
}

function Opened({ record, kinds }: { record: WorkflowRecord; kinds: NodeKind[] }) {
  const [{ store, saver }] = useState(() => {
    const { data, can_edit: canEdit } = record.workflow;
    const made = new EditorStore(data, byType(kinds), !canEdit);
    return { store: made, saver: new Saver(made, record) };
  });
  return <Editor store={store} saver={saver} />;
}
