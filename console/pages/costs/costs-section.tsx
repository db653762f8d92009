import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { api, unwrap, type paths } from '../../service/api.js';
import { QueryPlaceholder } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { roundDecimal } from '../../ui/decimals.js';
import { Money } from '../../ui/figures.js';
import { Table, type Column } from '../../ui/table.js';
import { daysOf, ticksOf, type Span } from './figures.js';
import { cutText } from '../../../graph/cut-text.js';

/** Number of rows shown until the person asks for all rows. The section of days always shows all rows. */
const MOST_ROWS = 12;

interface CostsSectionProps {
  title: string;
  group: UsageGroup;
  usage: UseQueryResult<Usage[]>;
  span: Span;
  currency: string;
}

/** A chart with a table of the same data. */
export function CostsSection({ title, group, usage, span, currency }: CostsSectionProps) {
  const { data, error, isFetching, isPlaceholderData, refetch } = usage;
  const [isAll, setIsAll] = useState(false);
  const id = useId();
  const rows = group === 'day' || isAll ? data : data?.slice(0, MOST_ROWS);
  const hidden = (data?.length ?? 0) - (rows?.length ?? 0);
  return (
    <section className="card" aria-labelledby={id} aria-busy={isPlaceholderData}>
      <h2 id={id}>{title}</h2>
      <QueryPlaceholder data={data} error={error} refetch={refetch} isFetching={isFetching} />
      {rows !== undefined && error === null && (
        <>
          <div>
            {group === 'day' ? (
              <DayPicture label={title} rows={rows} span={span} currency={currency} />
            ) : (
              <RankPicture label={title} rows={rows} currency={currency} />
            )}
          </div>
          <div className={group === 'day' ? 'costs-days' : undefined}>
            <UsageTable label={title} group={group} rows={rows} currency={currency} />
          </div>
          {hidden > 0 && (
            <p>
              <Button onClick={() => setIsAll(true)}>{hidden === 1 ? 'Show 1 more' : `Show ${hidden} more`}</Button>
            </p>
          )}
        </>
      )}
    </section>
  );
}

const HEIGHT = 220;
const BOTTOM = 24;
const TOP = 10;
const FORMAT = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** Maximum of labels below the chart. Narrow screens hide every other label. */
const MOST_LABELS = 8;

interface DayPictureProps {
  label: string;
  rows: readonly Usage[];
  span: Span;
  currency: string;
}

/**
 * Bar chart with one bar per day; days without costs have none. Fills its container, except for a margin on the left
 * (costs.css), where the labels of the vertical axis are. `UsageTable` shows the same figures.
 */
function DayPicture({ label, rows, span, currency }: DayPictureProps) {
  const days = daysOf(span);
  const costs = new Map(rows.map(({ key, amount }) => [key, amount[currency] ?? '0']));
  const marks = ticksOf(Math.max(0, ...[...costs.values()].map(Number)));
  const most = marks.at(-1)?.value || 1;
  const slot = 100 / Math.max(1, days.length);
  const every = Math.ceil(days.length / MOST_LABELS);
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  return (
    <svg role="img" aria-label={label} className="costs-picture costs-picture-days" height={HEIGHT}>
      {marks.map(({ value, text }) => (
        <g key={text}>
          <line x1="0" x2="100%" y1={y(value)} y2={y(value)} className="costs-grid" />
          <text x="-8" y={y(value) + 4} textAnchor="end" className="costs-mark">
            {text}
          </text>
        </g>
      ))}
      {days.map((day, at) => {
        const cost = costs.get(day) ?? '0';
        const top = y(Number(cost));
        return (
          <g key={day}>
            <rect
              x={`${slot * (at + 0.15)}%`}
              y={top}
              width={`${slot * 0.7}%`}
              height={Math.max(0, y(0) - top)}
              rx="2"
              className="costs-bar"
            >
              <title>{`${day}: ${cost} ${currency}`}</title>
            </rect>
            {at % every === 0 && (
              <text
                x={`${slot * (at + 0.5)}%`}
                y={HEIGHT - 6}
                textAnchor="middle"
                className={(at / every) % 2 === 0 ? 'costs-mark' : 'costs-mark costs-mark-wide'}
              >
                {FORMAT.format(new Date(`${day}T00:00:00Z`))}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

const ROW = 44;
/** Length of the longest bar in percent of the width. The rest is for the amount to the right of the bar. */
const LONGEST = 70;
const MOST_LETTERS = 100;

interface RankPictureProps {
  label: string;
  rows: readonly Usage[];
  currency: string;
}

/**
 * Bar chart with one bar per row, the most expensive first. The length shows the cost. Fills its container without
 * scaling the text.
 */
function RankPicture({ label, rows, currency }: RankPictureProps) {
  const costOf = ({ amount }: Usage): number => Number(amount[currency] ?? 0);
  const ranked = rows.toSorted((one, other) => costOf(other) - costOf(one));
  const most = Math.max(0, ...rows.map(costOf)) || 1;
  return (
    <svg role="img" aria-label={label} className="costs-picture" width="100%" height={ROW * rows.length}>
      {ranked.map((row, at) => {
        const length = Math.max(0.2, (LONGEST * costOf(row)) / most);
        const amount = row.amount[currency] ?? '0';
        return (
          <svg key={JSON.stringify([row.key, row.label])} y={at * ROW} width="100%" height={ROW}>
            <title>{`${row.label}: ${amount} ${currency}`}</title>
            <text y="15" className="costs-name">
              {cutText(row.label, MOST_LETTERS)}
            </text>
            <rect y="21" width={`${length}%`} height="14" rx="3" className="costs-bar" />
            <text x={`${length}%`} y="32" dx="8" className="costs-mark">
              {`${roundDecimal(amount)} ${currency}`}
            </text>
          </svg>
        );
      })}
    </svg>
  );
}

const COUNT = new Intl.NumberFormat();
const HEADINGS: Record<UsageGroup, string> = { day: 'Day (UTC)', workflow: 'Workflow', model: 'Model' };

interface UsageTableProps {
  label: string;
  group: UsageGroup;
  rows: readonly Usage[];
  currency: string;
}

function UsageTable({ label, group, rows, currency }: UsageTableProps) {
  return <Table label={label} hasCards rows={rows} keyOf={keyOf} columns={columnsOf(group, currency)} />;
}

function keyOf({ key, label }: Usage): string {
  return JSON.stringify([key, label]);
}

function columnsOf(group: UsageGroup, currency: string): Column<Usage>[] {
  return [
    { heading: HEADINGS[group], cell: (row) => nameOf(group, row), isName: true },
    { heading: 'Cost', cell: ({ amount }) => <Money amount={amount} currency={currency} />, isFigure: true },
    { heading: 'Runs', cell: ({ runs }) => COUNT.format(runs), isFigure: true },
    { heading: 'Model calls', cell: ({ calls }) => COUNT.format(calls), isFigure: true },
    { heading: 'Input tokens', cell: (row) => COUNT.format(row.input_tokens), isFigure: true },
    { heading: 'Output tokens', cell: (row) => COUNT.format(row.output_tokens), isFigure: true },
  ];
}

function nameOf(group: UsageGroup, { key, label }: Usage) {
  if (group === 'day') return <time className="figure">{key}</time>;
  const name = group === 'workflow' && key !== '' ? <Link href={`/workflows/${key}`}>{label}</Link> : label;
  return <span className="costs-row">{name}</span>;
}

type Path = paths['/api/v1/usage/']['get'];
export type Usage = Path['responses'][200]['content']['application/json'][number];
type UsageGroup = 'day' | 'workflow' | 'model';

/** Loads the usage of `project` or, if undefined, of all the person's projects and calls outside projects. */
export function useUsage(
  groupBy: UsageGroup,
  { from, to }: Span,
  project: number | undefined,
): UseQueryResult<Usage[]> {
  return useQuery({
    queryKey: ['usage', groupBy, from, to, project],
    queryFn: ({ signal }) => {
      const query = { group_by: groupBy, from, to, ...(project !== undefined && { project }) };
      return unwrap(api.GET('/api/v1/usage/', { params: { query }, signal }));
    },
    placeholderData: (before) => before,
    staleTime: 30_000,
  });
}

/** Returns the currencies. USD is first, because prices are in USD. */
export function currenciesOf(rows: readonly Usage[]): string[] {
  const codes = new Set(rows.flatMap(({ amount }) => Object.keys(amount)));
  return [...codes].toSorted(
    (one, other) => Number(other === 'USD') - Number(one === 'USD') || one.localeCompare(other),
  );
}
