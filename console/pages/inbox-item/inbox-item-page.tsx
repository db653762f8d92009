import { PageHeader } from '../../ui/page-header.js';

export function InboxItemPage({ itemId }: { itemId: string }) {
  return <PageHeader title={`Inbox ${itemId}`} />;
}
