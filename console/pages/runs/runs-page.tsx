import { PageHeader } from '../../ui/page-header.js';

export function RunsPage() {
  return <PageHeader title="Runs" />;
}
