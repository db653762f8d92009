import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from './button.js';
import type { Sorting } from './rows.js';
import './table.css';

export interface Column<Row> {
  /** Must be unique in the table. */
  heading: string;
  cell: (row: Row) => ReactNode;
  /** Right-aligned, so that digits line up. */
  isFigure?: boolean;
  /** True if the cell is the row's heading. */
  isName?: boolean;
  /** Hides the heading from all but screen readers, for example above buttons. */
  isHeadingHidden?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** Content instead of rows if there are none. */
  empty?: ReactNode;
  /** True to show each row as a card on narrow screens, with the heading before each cell. */
  hasCards?: boolean;
  sorting?: Sorting | undefined;
  /** If set, each heading is a button that calls this. */
  onSort?: (heading: string) => void;
}

/**
 * A table that scrolls horizontally within its frame. Roles are explicit for cards, because browsers drop the table
 * semantics of elements with another CSS `display`.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, empty, hasCards = false, sorting, onSort } = props;
  if (rows.length === 0 && empty !== undefined) return <p className="table-empty">{empty}</p>;
  return (
    <ScrollFrame className="table-frame">
      <table className={hasCards ? 'table table-cards' : 'table'} aria-label={label} {...roleOf('table', hasCards)}>
        <thead {...roleOf('rowgroup', hasCards)}>
          <tr {...roleOf('row', hasCards)}>
            {columns.map(({ heading, isFigure, isHeadingHidden }) => (
              <th
                key={heading}
                scope="col"
                {...roleOf('columnheader', hasCards)}
                className={isFigure === true ? 'table-figure' : undefined}
                {...(sorting?.column === heading && { 'aria-sort': sorting.isDescending ? 'descending' : 'ascending' })}
              >
                {onSort === undefined ? (
                  <span className={isHeadingHidden === true ? 'hidden-text' : undefined}>{heading}</span>
                ) : (
                  <button type="button" className="table-sort" onClick={() => onSort(heading)}>
                    {heading}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...roleOf('rowgroup', hasCards)}>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...roleOf('row', hasCards)}>
              {columns.map((column) => (
                <Cell key={column.heading} column={column} row={row} hasCards={hasCards} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  row: Row;
  hasCards: boolean;
}

function Cell<Row>({ column, row, hasCards }: CellProps<Row>) {
  const { heading, cell, isFigure, isName, isHeadingHidden } = column;
  const className = isFigure === true ? 'table-figure' : undefined;
  // The style sheet shows the heading before the cell of a card. Screen readers use the column's heading.
  const label = hasCards && isName !== true && isHeadingHidden !== true ? { 'data-heading': heading } : {};
  if (isName !== true) {
    return (
      <td className={className} {...label} {...roleOf('cell', hasCards)}>
        {cell(row)}
      </td>
    );
  }
  return (
    <th scope="row" className={className} {...roleOf('rowheader', hasCards)}>
      {cell(row)}
    </th>
  );
}

function roleOf(role: string, isWritten: boolean): { role?: string } {
  return isWritten ? { role } : {};
}

interface ScrollFrameProps {
  className: string;
  children: ReactNode;
}

/** A frame that becomes focusable when its content overflows, so that arrow keys can scroll it. */
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
  /** Page number of the service's list, from 1. */
  page: number;
  size: number;
  total: number;
  onPage: (page: number) => void;
}

/** Renders nothing if everything fits on one page. */
export function Pager({ page, size, total, onPage }: PagerProps) {
  const pages = Math.max(1, Math.ceil(total / size));
  // The last item of the last page may have been deleted.
  useEffect(() => {
    if (page > pages) onPage(pages);
  }, [page, pages, onPage]);
  if (pages === 1 && page === 1) return null;
  return (
    <nav className="pager" aria-label="Pages">
      <Button disabled={page <= 1} onClick={() => onPage(page - 1)}>
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
