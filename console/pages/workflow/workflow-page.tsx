import { PageHeader } from '../../ui/page-header.js';

export function WorkflowPage({ workflowId }: { workflowId: number }) {
  return <PageHeader title={`Workflow ${workflowId}`} />;
}
