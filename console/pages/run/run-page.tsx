import { PageHeader } from '../../ui/page-header.js';

export function RunPage({ runId }: { runId: string }) {
  return <PageHeader title={`Run ${runId}`} />;
}
