import { PageHeader } from '../../ui/page-header.js';

export function MarketplaceItemPage({ slug }: { slug: string }) {
  return <PageHeader title={`Marketplace ${slug}`} />;
}
