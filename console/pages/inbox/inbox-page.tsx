import { PageHeader } from '../../ui/page-header.js';

export function InboxPage() {
  return <PageHeader title="Inbox" />;
}
