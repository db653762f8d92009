import { PageHeader } from '../../ui/page-header.js';

export function SettingsPage() {
  return <PageHeader title="Settings" />;
}
