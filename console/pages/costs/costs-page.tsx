import { fieldErrors } from '../../service/explain.js';
import { FailedChoices } from '../../service/problem.js';
import { useProjects } from '../../service/projects.js';
import { useSearchState } from '../../service/search-state.js';
import { ButtonLink } from '../../ui/button.js';
import { sumDecimals } from '../../ui/decimals.js';
import { DayField } from '../../ui/day-field.js';
import { SelectField } from '../../ui/fields.js';
import { Money, useNow } from '../../ui/figures.js';
import { Note } from '../../ui/notices.js';
import { PageHeader } from '../../ui/page-header.js';
import { CostsSection, currenciesOf, useUsage, type Usage } from './costs-section.js';
import './costs.css';
import { lastDays, toSpan, type Span } from './figures.js';
import { LimitsSection } from './limits-section.js';

/** How often the current time is updated, so that the page notices the start of a new day. */
const TICK_MS = 60_000;
const COUNT = new Intl.NumberFormat();

/** Address: `?from=&to=&project=&currency=`. Days are in UTC and inclusive. */
export function CostsPage() {
  const filters = useSearchState();
  const { get } = filters;
  const now = useNow(TICK_MS);
  const span = toSpan(get('from'), get('to'), now);
  const project = /^[1-9]\d{0,8}$/.test(get('project')) ? Number(get('project')) : undefined;
  const byDay = useUsage('day', span, project);
  const byWorkflow = useUsage('workflow', span, project);
  const byModel = useUsage('model', span, project);
  const currencies = currenciesOf(byDay.data ?? []);
  const currency = currencies.find((code) => code === get('currency')) ?? currencies[0] ?? 'USD';
  const isEmpty = byDay.data?.length === 0 && !byDay.isPlaceholderData && byDay.error === null;
  const errors = fieldErrors(byDay.error);
  // If the service refuses a day, the field of the day shows the error, and there are no figures to show.
  const isRefused = 'from' in errors || 'to' in errors;
  return (
    <>
      <PageHeader title="Costs" />
      <CostsFilters {...{ filters, span, now, currencies, currency, errors }} />
      {isEmpty && <Empty />}
      {isEmpty && <LimitsSection chosen={project} />}
      {!isEmpty && !isRefused && (
        <>
          <Total rows={byDay.error === null ? byDay.data : undefined} currency={currency} />
          <LimitsSection chosen={project} />
          <CostsSection title="Cost by day" group="day" usage={byDay} span={span} currency={currency} />
          <CostsSection title="Cost by workflow" group="workflow" usage={byWorkflow} span={span} currency={currency} />
          <CostsSection title="Cost by model" group="model" usage={byModel} span={span} currency={currency} />
        </>
      )}
    </>
  );
}

function Total({ rows, currency }: { rows: readonly Usage[] | undefined; currency: string }) {
  const sum = (count: (row: Usage) => number): string =>
    rows === undefined ? '–' : COUNT.format(rows.reduce((before, row) => before + count(row), 0));
  const cost = rows === undefined ? undefined : sumDecimals(rows.map(({ amount }) => amount[currency] ?? '0'));
  return (
    <dl className="costs-total">
      <div>
        <dt>Cost</dt>
        <dd>
          <Money amount={cost === undefined ? undefined : { [currency]: cost }} currency={currency} />
        </dd>
      </div>
      <div>
        <dt>Model calls</dt>
        <dd>{sum(({ calls }) => calls)}</dd>
      </div>
      <div>
        <dt>Input tokens</dt>
        <dd>{sum((row) => row.input_tokens)}</dd>
      </div>
      <div>
        <dt>Output tokens</dt>
        <dd>{sum((row) => row.output_tokens)}</dd>
      </div>
    </dl>
  );
}

function Empty() {
  return (
    <Note>
      <p>Nothing was run in these days. Each run of a workflow appears here with what its model calls have cost.</p>
      <p className="costs-next">
        <ButtonLink to="/workflows">To the workflows</ButtonLink>
      </p>
    </Note>
  );
}

const SPANS = [7, 30, 90, 365] as const;

interface CostsFiltersProps {
  filters: ReturnType<typeof useSearchState>;
  span: Span;
  /** Current time in milliseconds since 1970. */
  now: number;
  errors: Readonly<Record<string, string>>;
  currencies: readonly string[];
  currency: string;
}

function CostsFilters({ filters: { get, set }, span, now, errors, currencies, currency }: CostsFiltersProps) {
  const projects = useProjects();
  const known = SPANS.find((days) => {
    const { from, to } = lastDays(days, now);
    return from === span.from && to === span.to;
  });
  return (
    <div className="costs-filters">
      <SelectField
        label="Project"
        value={get('project')}
        onChange={(project) => set({ project })}
        options={[
          { value: '', label: 'All projects' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
      />
      <SelectField
        label="Span"
        value={known === undefined ? '' : String(known)}
        onChange={(days) => days !== '' && set({ ...lastDays(Number(days), now) })}
        options={[
          ...(known === undefined ? [{ value: '', label: 'Other days' }] : []),
          ...SPANS.map((days) => ({ value: String(days), label: `Last ${days} days` })),
        ]}
      />
      <DayField label="From" value={span.from} onChange={(from) => set({ from })} error={errors['from']} />
      <DayField label="To" value={span.to} onChange={(to) => set({ to })} error={errors['to']} />
      {currencies.length > 1 && (
        <SelectField
          label="Currency"
          value={currency}
          onChange={(code) => set({ currency: code })}
          options={currencies.map((code) => ({ value: code, label: code }))}
        />
      )}
      <FailedChoices noun="projects" query={projects} />
    </div>
  );
}
