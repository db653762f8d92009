import { useSearchParams } from 'wouter';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { DecidedList } from './decided-list.js';
import './inbox.css';
import { useWaiting } from './use-waiting.js';
import { WaitingList } from './waiting-list.js';

/** What agents ask people before they act. `?tab=decided` is what has been decided. */
export function InboxPage() {
  const [search, setSearch] = useSearchParams();
  const waiting = useWaiting();
  const selected = search.get('tab') === 'decided' ? 'decided' : 'waiting';
  return (
    <div className="inbox">
      <PageHeader title="Inbox" />
      <Tabs
        label="Requests"
        selected={selected}
        onSelect={(tab) => setSearch(tab === 'decided' ? { tab } : {})}
        tabs={[
          { id: 'waiting', label: 'Waiting', content: <WaitingList waiting={waiting} /> },
          { id: 'decided', label: 'Decided', content: <DecidedList /> },
        ]}
      />
    </div>
  );
}
