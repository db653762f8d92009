import { ClockTime, Money } from '../../../ui/figures.js';
import { Table, type Column } from '../../../ui/table.js';
import type { NodeDetail, Transaction } from '../run-data.js';
import { sumAmounts } from '../sum-amounts.js';

const COLUMNS: readonly Column<Transaction>[] = [
  { heading: 'Operation', isName: true, cell: ({ operation }) => operation },
  { heading: 'Time', cell: ({ created_at: createdAt }) => <ClockTime at={createdAt} /> },
  { heading: 'Note', cell: ({ reason }) => reason },
  { heading: 'Amount', isFigure: true, cell: ({ amount }) => <Money amount={amount} /> },
];

export function CostTab({ detail: { transactions, reused } }: { detail: NodeDetail }) {
  return (
    <div className="node-part">
      {transactions.length > 0 && (
        <p>
          In all: <Money amount={sumAmounts(transactions.map(({ amount }) => amount))} />
        </p>
      )}
      <Table
        label="Cost"
        columns={COLUMNS}
        rows={transactions}
        keyOf={({ id }) => id}
        empty={
          reused === true
            ? 'Nothing was charged: the result is that of an earlier run.'
            : 'Nothing has been charged for this node yet.'
        }
      />
    </div>
  );
}
