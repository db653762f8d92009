import { PageHeader } from '../../ui/page-header.js';

export function MarketplacePage() {
  return <PageHeader title="Marketplace" />;
}
