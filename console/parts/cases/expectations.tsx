import { Button } from '../../ui/button.js';
import { Hint } from '../../ui/fields.js';
import { Table, type Column } from '../../ui/table.js';
import './cases.css';
import type { Expectation, Operator } from './case-calls.js';

/** A row of the table. Edits do not change `key`. */
export interface ExpectationRow {
  key: number;
  /** Node id, empty for the output of the run. */
  node: string;
  path: string;
  operator: Operator;
  right: string;
}

/** True for operators that compare with a value. */
const OPERATORS: Readonly<Record<Operator, boolean>> = {
  '==': true,
  '!=': true,
  '>': true,
  '>=': true,
  '<': true,
  '<=': true,
  contains: true,
  not_contains: true,
  starts_with: true,
  ends_with: true,
  matches: true,
  in: true,
  is_empty: false,
  is_not_empty: false,
};

let lastKey = 0;

function newRow(fields: Partial<Omit<ExpectationRow, 'key'>> = {}): ExpectationRow {
  lastKey += 1;
  return { node: '', path: '', operator: '==', right: '', ...fields, key: lastKey };
}

export function toRows(expect: readonly Expectation[]): ExpectationRow[] {
  return expect.map(({ node = '', path, operator, right = '' }) =>
    newRow({ node, path, operator, right: String(right) }),
  );
}

export function toExpectations(rows: readonly ExpectationRow[]): Expectation[] {
  return rows.map(({ node, path, operator, right }) => ({
    ...(node === '' ? { output: true as const } : { node }),
    path: path.trim(),
    operator,
    ...(OPERATORS[operator] && { right }),
  }));
}

interface ExpectationsProps {
  rows: readonly ExpectationRow[];
  labels: ReadonlyMap<string, string>;
  onChange: (rows: readonly ExpectationRow[]) => void;
}

/** Edits the expectations on the run of a case, one per row. */
export function Expectations({ rows, labels, onChange }: ExpectationsProps) {
  return (
    <div className="case-expectations">
      <Table
        label="Expectations"
        columns={columnsOf({ rows, labels, onChange })}
        rows={rows}
        keyOf={({ key }) => key}
        empty="Nothing is expected but that the run succeeds."
      />
      <Hint>A path is what follows the node in a variable, such as `result.content` or `error.code`.</Hint>
      <div>
        <Button onClick={() => onChange([...rows, newRow()])}>Add expectation</Button>
      </div>
    </div>
  );
}

function columnsOf({ rows, labels, onChange }: ExpectationsProps): Column<ExpectationRow>[] {
  const change = (row: ExpectationRow, next: Partial<ExpectationRow>): void =>
    onChange(rows.map((each) => (each === row ? { ...each, ...next } : each)));
  const numberOf = (row: ExpectationRow): number => rows.indexOf(row) + 1;
  return [
    {
      heading: 'Of',
      cell: (row) => (
        <select
          className="control"
          aria-label={`Expectation ${numberOf(row)} of`}
          value={row.node}
          onChange={({ target }) =>
            change(row, { node: target.value, path: target.value === '' ? '' : 'result.content' })
          }
        >
          <option value="">Output</option>
          {[...labels].map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
          {row.node !== '' && !labels.has(row.node) && <option value={row.node}>{row.node}</option>}
        </select>
      ),
    },
    {
      heading: 'Path',
      cell: (row) => (
        <input
          className="control"
          aria-label={`Expectation ${numberOf(row)} path`}
          placeholder={row.node === '' ? 'all of it' : 'result.content'}
          spellCheck={false}
          value={row.path}
          onChange={({ target }) => change(row, { path: target.value })}
        />
      ),
    },
    {
      heading: 'Operator',
      cell: (row) => (
        <select
          className="control"
          aria-label={`Expectation ${numberOf(row)} operator`}
          value={row.operator}
          onChange={({ target }) => change(row, { operator: target.value as Operator })}
        >
          {Object.keys(OPERATORS).map((operator) => (
            <option key={operator} value={operator}>
              {operator.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      ),
    },
    {
      heading: 'Value',
      cell: (row) =>
        OPERATORS[row.operator] && (
          <textarea
            className="control form-text"
            rows={1}
            aria-label={`Expectation ${numberOf(row)} value`}
            spellCheck={false}
            value={row.right}
            onChange={({ target }) => change(row, { right: target.value })}
          />
        ),
    },
    {
      heading: 'Remove',
      isHeadingHidden: true,
      cell: (row) => (
        <Button
          variant="quiet"
          aria-label={`Remove expectation ${numberOf(row)}`}
          onClick={() => onChange(rows.filter((each) => each !== row))}
        >
          <span aria-hidden="true">✕</span>
        </Button>
      ),
    },
  ];
}
