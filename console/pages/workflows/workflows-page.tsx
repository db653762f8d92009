import { PageHeader } from '../../ui/page-header.js';

export function WorkflowsPage() {
  return <PageHeader title="Workflows" />;
}
