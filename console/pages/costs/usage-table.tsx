import type { ReactNode } from 'react';
import { Money } from '../../ui/money.js';
import { Table } from '../../ui/table.js';
import type { Usage } from './usage.js';

const COUNT = new Intl.NumberFormat();

interface UsageTableProps {
  label: string;
  /** What a row stands for: `Day`. */
  heading: string;
  name: (row: Usage) => ReactNode;
  rows: readonly Usage[];
  currency: string;
}

/** The figures of a picture, and what they are made of. */
export function UsageTable({ label, heading, name, rows, currency }: UsageTableProps) {
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={({ key, label: title }) => JSON.stringify([key, title])}
      columns={[
        { heading, cell: name, isName: true },
        { heading: 'Cost', cell: ({ amount }) => <Money amount={amount} currency={currency} />, isFigure: true },
        { heading: 'Runs', cell: ({ runs }) => COUNT.format(runs), isFigure: true },
        { heading: 'Model calls', cell: ({ calls }) => COUNT.format(calls), isFigure: true },
        { heading: 'Input tokens', cell: (row) => COUNT.format(row.input_tokens), isFigure: true },
        { heading: 'Output tokens', cell: (row) => COUNT.format(row.output_tokens), isFigure: true },
      ]}
    />
  );
}
