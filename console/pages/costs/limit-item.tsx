import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, unwrap } from '../../app/api.js';
import { explain } from '../../app/explain.js';
import { Button } from '../../ui/button.js';
import { Money, Time } from '../../ui/figures.js';
import { mayAct, type Project } from '../settings/use-projects.js';

const PERIODS = { day: 'today (UTC)', month: 'in this month (UTC)', total: 'in all' } as const;
const COUNT = new Intl.NumberFormat();
/** What is reserved changes while runs go on. */
const EVERY_MS = 10_000;

interface LimitItemProps {
  project: Project;
  onChange: () => void;
}

/** How a project stands to its limit: what is used and reserved of it, and what was stopped. */
export function LimitItem({ project, onChange }: LimitItemProps) {
  const { id, name, role } = project;
  const { data, error } = useQuery({
    queryKey: ['spending', id],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/projects/{id}/spending/', { params: { path: { id } }, signal })),
    refetchInterval: EVERY_MS,
  });
  const { spending_limit: limit, spent_in_period: spent } = data ?? project;
  const stops = data?.stopped ?? [];
  const calls = stops.reduce((sum, stop) => sum + stop.calls, 0);
  const [last] = stops;
  return (
    <li>
      {limit === null ? (
        <p className="costs-limit-line">{name}: no limit</p>
      ) : (
        <>
          <p className="costs-limit-line">
            {name}: <Money amount={spent} /> of <Money amount={{ USD: limit.amount }} /> {PERIODS[limit.period]}
          </p>
          <progress aria-label={`Used of the limit of ${name}`} {...filledBy(spent['USD'] ?? '0', limit.amount)} />
        </>
      )}
      {error !== null && <p className="costs-limit-more">{explain(error)}</p>}
      {data !== undefined && (
        <p className="costs-limit-more">
          Reserved for calls that are not in the books yet: <Money amount={data.reserved} /> (
          {COUNT.format(data.reserved_calls)}). Calls stopped in the last 30 days: {COUNT.format(calls)}
          {last !== undefined && (
            <>
              , the last one <Time at={last.last_at} />
              {last.last_run_id !== null && (
                <>
                  {' '}
                  in <Link href={`/runs/${last.last_run_id}`}>this run</Link>
                </>
              )}
            </>
          )}
          .
        </p>
      )}
      {limit !== null && mayAct(role, 'admin') && (
        <Button aria-label={`Change the limit of ${name}`} onClick={onChange}>
          Change
        </Button>
      )}
    </li>
  );
}

/** As a picture: rounding does no harm here. A limit of nothing is full. */
function filledBy(used: string, limit: string): { value: number; max: number } {
  const max = Number(limit);
  return max > 0 ? { value: Math.min(Number(used), max), max } : { value: 1, max: 1 };
}
