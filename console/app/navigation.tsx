import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { classNames } from '../ui/class-names.js';
import { ADDRESSES } from './addresses.js';
import { api, unwrap } from './api.js';
import './navigation.css';
import { useUser } from './use-session.js';

const PLACES = [
  { to: ADDRESSES.workflows, name: 'Workflows' },
  { to: ADDRESSES.runs, name: 'Runs' },
  { to: ADDRESSES.inbox, name: 'Inbox' },
  { to: ADDRESSES.marketplace, name: 'Marketplace' },
  { to: ADDRESSES.costs, name: 'Costs' },
  { to: ADDRESSES.settings, name: 'Settings' },
] as const;
const ASK_EVERY_MS = 15_000;

interface NavigationProps {
  /** On narrow screens it is there only while it is open. */
  isOpen: boolean;
  path: string;
  onChoose: () => void;
}

export function Navigation({ isOpen, path, onChoose }: NavigationProps) {
  const waiting = useWaiting();
  return (
    <nav id="navigation" aria-label="Main" className={classNames('navigation', isOpen && 'navigation-open')}>
      <ul className="navigation-list">
        {PLACES.map(({ to, name }) => {
          const isInbox = to === ADDRESSES.inbox && waiting !== undefined;
          const isHere = path === to || path.startsWith(`${to}/`);
          return (
            <li key={to}>
              <Link
                href={to}
                onClick={onChoose}
                className="navigation-link"
                aria-current={isHere ? 'page' : undefined}
                aria-label={isInbox ? `${name}, ${waiting} waiting` : undefined}
              >
                {name}
                {isInbox && waiting > 0 && <span className="navigation-count">{waiting}</span>}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** How many approval requests and tasks wait for an answer; undefined for visitors, and until it is known. */
function useWaiting(): number | undefined {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ['approvals', 'pending', 'total'],
    queryFn: ({ signal }) => countWaiting(signal),
    enabled: user !== undefined,
    refetchInterval: ASK_EVERY_MS,
  });
  return data;
}

async function countWaiting(signal: AbortSignal): Promise<number> {
  const options = { params: { query: { status: 'pending', size: 1 } }, signal } as const;
  const [approvals, tasks] = await Promise.all([
    unwrap(api.GET('/api/v1/agent-approvals/', options)),
    unwrap(api.GET('/api/v1/human-tasks/', options)),
  ]);
  return approvals.total + tasks.total;
}
