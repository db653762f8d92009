import { Link } from 'wouter';
import { fieldErrors } from '../../app/explain.js';
import { useSearchState } from '../../app/use-search-state.js';
import { ButtonLink } from '../../ui/button-link.js';
import { Money } from '../../ui/money.js';
import { Note } from '../../ui/note.js';
import { PageHeader } from '../../ui/page-header.js';
import { CostsFilters } from './costs-filters.js';
import { CostsSection } from './costs-section.js';
import './costs.css';
import { DayPicture } from './day-picture.js';
import { sumDecimals } from './money-sum.js';
import { RankPicture } from './rank-picture.js';
import { toSpan } from './span.js';
import { currenciesOf, useUsage, type Usage } from './usage.js';

const COUNT = new Intl.NumberFormat();

/** `?from=&to=&project=&currency=`: UTC days, both included. */
export function CostsPage() {
  const filters = useSearchState();
  const { get } = filters;
  const span = toSpan(get('from'), get('to'), Date.now());
  const project = /^[1-9]\d{0,8}$/.test(get('project')) ? Number(get('project')) : undefined;
  const byDay = useUsage('day', span, project);
  const byWorkflow = useUsage('workflow', span, project);
  const byModel = useUsage('model', span, project);
  const currencies = currenciesOf(byDay.data ?? []);
  const currency = currencies.find((code) => code === get('currency')) ?? currencies[0] ?? 'USD';
  const isEmpty = byDay.data?.length === 0 && !byDay.isPlaceholderData && byDay.error === null;
  const errors = fieldErrors(byDay.error);
  return (
    <>
      <PageHeader title="Costs" />
      <CostsFilters {...{ filters, span, currencies, currency, errors }} />
      {isEmpty && <Empty />}
      {!isEmpty && (
        <>
          <Total rows={byDay.error === null ? byDay.data : undefined} currency={currency} />
          <CostsSection
            title="Cost by day"
            heading="Day (UTC)"
            usage={byDay}
            currency={currency}
            name={({ key }) => key}
            picture={(rows) => <DayPicture label="Cost by day" rows={rows} span={span} currency={currency} />}
            isWhole
          />
          <CostsSection
            title="Cost by workflow"
            heading="Workflow"
            usage={byWorkflow}
            currency={currency}
            name={({ key, label }) => <Link href={`/workflows/${key}`}>{label}</Link>}
            picture={(rows) => <RankPicture label="Cost by workflow" rows={rows} currency={currency} />}
          />
          <CostsSection
            title="Cost by model"
            heading="Model"
            usage={byModel}
            currency={currency}
            name={({ label }) => label}
            picture={(rows) => <RankPicture label="Cost by model" rows={rows} currency={currency} />}
          />
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
