import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from './button.js';
import './table.css';

export interface Column<Row> {
  /** The column's heading, which is unique in the table. */
  heading: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand at the right, so that their digits are above each other. */
  isFigure?: boolean;
  /** The cell names its row (a row heading). */
  isName?: boolean;
  /** Only screen readers read the heading: that of a column of buttons, for example. */
  isHeadingHidden?: boolean;
}

interface TableProps<Row> {
  /** The accessible name. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** The content in place of rows, if there are none. */
  empty?: ReactNode;
}

/** A table. A wide one scrolls in itself, and the page never scrolls sidewards. */
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

interface ScrollFrameProps {
  className: string;
  children: ReactNode;
}

/** A part that may be wider than its place. Then it takes the focus, so that the arrow keys scroll it. */
function ScrollFrame({ className, children }: ScrollFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isScrollable, setIsScrollable] = useState(false);
  useEffect(() => {
    const element = frame.current!;
    const observer = new ResizeObserver(() => setIsScrollable(element.scrollWidth > element.clientWidth));
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  return (
    <div className={className} ref={frame} {...(isScrollable ? { tabIndex: 0 } : {})}>
      {children}
    </div>
  );
}

interface PagerProps {
  /** The page of the service's list envelope. The first page is 1. */
  page: number;
  size: number;
  total: number;
  onPage: (page: number) => void;
}

/** The pager is missing if everything is on one page. */
export function Pager({ page, size, total, onPage }: PagerProps) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav className="pager" aria-label="Pages">
      <Button disabled={page <= 1} onClick={() => onPage(Math.min(page - 1, pages))}>
        Previous page
      </Button>
      <span>
        Page {page} of {pages}
      </span>
      <Button disabled={page >= pages} onClick={() => onPage(page + 1)}>
        Next page
      </Button>
    </nav>
  );
}
