import { useMemo, useState } from 'react';
import { Button } from '../../ui/button.js';
import { download } from '../../ui/download.js';
import { cellText, sortedPositions, toCsv, type DataTable, type Sorting } from '../../ui/rows.js';
import { Table, type Column } from '../../ui/table.js';
import { toFileName } from './file-name.js';
import './json-table.css';
import { cutText } from '../../../graph/cut-text.js';

interface JsonTableProps {
  table: DataTable;
  /** Accessible name, and base name of the exported file. */
  name: string;
  /** Returns the variable of a cell. With `onChoose`, a person can then choose a cell, or drag it as its variable. */
  variableOf?: (at: number, column: string) => string;
  onChoose?: (text: string) => void;
  /** True for names with their values, which nobody exports: hides the number of rows and the button `Export CSV`. */
  isPlain?: boolean;
}

const STEP = 100;
/** Further columns are only exported, because nobody reads so many. */
const MAX_COLUMNS = 50;
const MOST_CHARACTERS = 200;

/** A list of objects as a table. A click on a heading sorts by its column, and a second click reverses the order. */
export function JsonTable({ table, name, variableOf, onChoose, isPlain = false }: JsonTableProps) {
  const [sorting, setSorting] = useState<Sorting>();
  const [shown, setShown] = useState(STEP);
  const positions = useMemo(() => sortedPositions(table, sorting), [table, sorting]);
  const columns = table.columns.slice(0, MAX_COLUMNS).map((column) => toColumn(table, column, variableOf, onChoose));
  return (
    <div className="json-table">
      {!isPlain && (
        <div className="json-table-bar">
          <span>
            {table.rows.length === 1 ? '1 row' : `${table.rows.length} rows`}
            {table.columns.length > MAX_COLUMNS && `, ${MAX_COLUMNS} of ${table.columns.length} columns`}
          </span>
          <Button onClick={() => download(toFileName(name, 'csv'), toCsv(table, positions), 'text/csv;charset=utf-8')}>
            Export CSV
          </Button>
        </div>
      )}
      <Table
        label={name}
        columns={columns}
        rows={positions.slice(0, shown)}
        keyOf={(at) => at}
        sorting={sorting}
        onSort={(column) => setSorting({ column, isDescending: sorting?.column === column && !sorting.isDescending })}
      />
      {positions.length > shown && (
        <Button variant="quiet" onClick={() => setShown(shown + STEP)}>
          Show {Math.min(STEP, positions.length - shown)} more of {positions.length}
        </Button>
      )}
    </div>
  );
}

function toColumn(
  { rows }: DataTable,
  column: string,
  variableOf: JsonTableProps['variableOf'],
  onChoose: JsonTableProps['onChoose'],
): Column<number> {
  const textOf = (row: DataTable['rows'][number]): string => (Object.hasOwn(row, column) ? cellText(row[column]) : '');
  return {
    heading: column,
    cell: (at) => <Cell text={textOf(rows[at]!)} variable={variableOf?.(at, column)} onChoose={onChoose} />,
  };
}

interface CellProps {
  text: string;
  variable: string | undefined;
  onChoose: ((text: string) => void) | undefined;
}

function Cell({ text, variable, onChoose }: CellProps) {
  const short = text.length > MOST_CHARACTERS ? `${cutText(text, MOST_CHARACTERS)}…` : text;
  if (variable === undefined || onChoose === undefined) return <span className="json-table-cell">{short}</span>;
  return (
    <button
      type="button"
      className="json-table-cell json-table-choice"
      title={variable}
      draggable
      onDragStart={(event) => {
        event.dataTransfer.setData('text/plain', variable);
        event.dataTransfer.effectAllowed = 'copy';
      }}
      onClick={() => onChoose(variable)}
    >
      {short === '' ? <span className="hidden-text">empty</span> : short}
    </button>
  );
}
