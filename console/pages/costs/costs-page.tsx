import { PageHeader } from '../../ui/page-header.js';

export function CostsPage() {
  return <PageHeader title="Costs" />;
}
