import type { ReactNode } from 'react';
import { ScrollFrame } from './scroll-frame.js';
import './table.css';

export interface Column<Row> {
  /** Unique in the table, and the column's heading. */
  heading: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand at the right, so that their digits are above each other. */
  isFigure?: boolean;
  /** The cell names its row (a row heading). */
  isName?: boolean;
  /** The heading is for screen readers: of a column of buttons, for example. */
  isHeadingHidden?: boolean;
}

interface TableProps<Row> {
  /** The accessible name. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** In place of rows, where there are none. */
  empty?: ReactNode;
}

/** Wide tables scroll in themselves: the page never does sidewards. */
export function Table<Row>({ label, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p className="table-empty">{empty}</p>;
  return (
    <ScrollFrame className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ heading, isFigure, isHeadingHidden }) => (
              <th key={heading} scope="col" className={isFigure === true ? 'table-figure' : undefined}>
                <span className={isHeadingHidden === true ? 'hidden-text' : undefined}>{heading}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <Cell key={column.heading} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

function Cell<Row>({ column: { cell, isFigure, isName }, row }: { column: Column<Row>; row: Row }) {
  const className = isFigure === true ? 'table-figure' : undefined;
  if (isName !== true) return <td className={className}>{cell(row)}</td>;
  return (
    <th scope="row" className={className}>
      {cell(row)}
    </th>
  );
}
