import { Link } from 'wouter';
import { Money } from '../../ui/figures.js';
import { Table, type Column } from '../../ui/table.js';
import type { Usage, UsageGroup } from './usage.js';

const COUNT = new Intl.NumberFormat();
const HEADINGS: Record<UsageGroup, string> = { day: 'Day (UTC)', workflow: 'Workflow', model: 'Model' };

interface UsageTableProps {
  label: string;
  group: UsageGroup;
  rows: readonly Usage[];
  currency: string;
}

/** The figures of a picture, and what they are made of. */
export function UsageTable({ label, group, rows, currency }: UsageTableProps) {
  return <Table label={label} rows={rows} keyOf={keyOf} columns={columnsOf(group, currency)} />;
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
