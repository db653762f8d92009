import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { explain, fieldErrors } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { mayAct, useProjects, type Project } from '../../service/projects.js';
import { useChange } from '../../service/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/fields.js';
import { Money, Time } from '../../ui/figures.js';

/** The spending limit of the chosen project or, if none is chosen, of each project that has a limit. */
export function LimitsSection({ chosen }: { chosen: number | undefined }) {
  const { data, error, isFetching, refetch } = useProjects();
  const [changed, setChanged] = useState<Project | 'new'>();
  const id = useId();
  const projects = (data ?? []).filter(({ id: of }) => chosen === undefined || of === chosen);
  const limited = projects.filter((project) => project.spending_limit !== null || chosen !== undefined);
  const limitable = projects.filter(({ role, spending_limit: limit }) => limit === null && mayAct(role, 'admin'));
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>Limits</h2>
      <Problem error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      {data !== undefined && limited.length === 0 && <p>No project has a limit of what it may spend.</p>}
      {limited.length > 0 && (
        <ul className="costs-limits">
          {limited.map((project) => (
            <LimitItem key={project.id} project={project} onChange={() => setChanged(project)} />
          ))}
        </ul>
      )}
      {limitable.length > 0 && (
        <p>
          <Button onClick={() => setChanged('new')}>Set a limit</Button>
        </p>
      )}
      {changed !== undefined && (
        <LimitDialog projects={changed === 'new' ? limitable : [changed]} onClose={() => setChanged(undefined)} />
      )}
    </section>
  );
}

const PERIODS = { day: 'today (UTC)', month: 'in this month (UTC)', total: 'in all' } as const;
const COUNT = new Intl.NumberFormat();
/** Polling interval. The reserved amount changes while runs are in progress. */
const EVERY_MS = 10_000;

interface LimitItemProps {
  project: Project;
  onChange: () => void;
}

/** The limit of a project, with the used and reserved amounts and the number of stopped calls. */
function LimitItem({ project, onChange }: LimitItemProps) {
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

/**
 * Returns the values of the progress bar. Rounding the decimal texts to numbers is harmless for a bar. A limit of 0
 * shows a full bar.
 */
function filledBy(used: string, limit: string): { value: number; max: number } {
  const max = Number(limit);
  return max > 0 ? { value: Math.min(Number(used), max), max } : { value: 1, max: 1 };
}

type Limit = NonNullable<Project['spending_limit']>;

const PERIOD_CHOICES: { value: Limit['period']; label: string }[] = [
  { value: 'day', label: 'A day' },
  { value: 'month', label: 'A month' },
  { value: 'total', label: 'In all' },
];
const FIELDS = ['spending_limit', 'spending_limit.amount', 'spending_limit.period'];

interface LimitDialogProps {
  projects: readonly Project[];
  onClose: () => void;
}

function LimitDialog({ projects, onClose }: LimitDialogProps) {
  const [id, setId] = useState(String(projects[0]?.id ?? ''));
  const known = projects.find((project) => String(project.id) === id)?.spending_limit ?? null;
  const [amount, setAmount] = useState(known?.amount ?? '');
  const [period, setPeriod] = useState<Limit['period']>(known?.period ?? 'month');
  const change = useChange(
    (limit: Limit | null) =>
      unwrap(
        api.PATCH('/api/v1/projects/{id}/', { params: { path: { id: Number(id) } }, body: { spending_limit: limit } }),
      ),
    { invalidates: ['projects', 'spending'], announcement: 'The limit is changed.', onSuccess: onClose },
  );
  const errors = fieldErrors(change.error);
  return (
    <Dialog
      title={known === null ? 'Set a limit' : 'Change the limit'}
      onClose={onClose}
      holdsText
      footer={
        <>
          {known !== null && (
            <Button isBusy={change.isPending} onClick={() => change.mutate(null)}>
              Remove the limit
            </Button>
          )}
          <Button
            variant="primary"
            isBusy={change.isPending}
            onClick={() => change.mutate({ amount: amount.trim(), period })}
          >
            Save
          </Button>
        </>
      }
    >
      <Problem error={change.error} fields={FIELDS} />
      <p>A model call that could pass the limit is not made, and its run fails. What has begun is paid for.</p>
      {projects.length > 1 && (
        <SelectField
          label="Project"
          value={id}
          onChange={setId}
          options={projects.map((project) => ({ value: String(project.id), label: project.name }))}
        />
      )}
      <TextField
        label="Limit in USD"
        value={amount}
        onChange={setAmount}
        inputMode="decimal"
        placeholder="25.00"
        error={errors['spending_limit.amount'] ?? errors['spending_limit']}
        isRequired
      />
      <SelectField
        label="Period"
        hint="Days and months begin at midnight UTC."
        value={period}
        onChange={(value) => setPeriod(PERIOD_CHOICES.find((choice) => choice.value === value)?.value ?? 'month')}
        options={PERIOD_CHOICES}
      />
    </Dialog>
  );
}
