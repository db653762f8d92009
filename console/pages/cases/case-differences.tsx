import { FilesOf } from '../../files/file-figure.js';
import { Link } from 'wouter';
import { toText } from '../../ui/json.js';
import { Table, type Column } from '../../ui/table.js';
import type { Case, CaseResult, CaseRun, Expectation } from '../../parts/cases/case-calls.js';
import '../../parts/cases/cases.css';

type Failure = CaseResult['failures'][number];

interface CaseDifferencesProps {
  run: CaseRun;
  cases: readonly Case[];
  labels: ReadonlyMap<string, string>;
}

/** Expected and actual values of each failed case, and its error if it has one. */
export function CaseDifferences({ run, cases, labels }: CaseDifferencesProps) {
  const failed = run.cases.filter(({ status }) => status === 'failed' || status === 'error');
  if (failed.length === 0) return null;
  const names = new Map(cases.map(({ id, name }) => [id, name]));
  return (
    <section className="case-differences" aria-label="Differences">
      <h2>Differences</h2>
      {failed.map((result) => (
        <OfCase
          key={result.case_id}
          result={result}
          name={names.get(result.case_id) ?? 'A removed case'}
          labels={labels}
        />
      ))}
    </section>
  );
}

interface OfCaseProps {
  result: CaseResult;
  name: string;
  labels: ReadonlyMap<string, string>;
}

function OfCase({ result: { failures, error, run_id: runId }, name, labels }: OfCaseProps) {
  return (
    <div className="card" role="group" aria-label={name}>
      <h3>{name}</h3>
      {error !== undefined && (
        <p>
          <code>{error.code}</code> {error.message}
        </p>
      )}
      {failures.length > 0 && (
        <Table
          label={`Differences of ${name}`}
          columns={columnsOf(labels)}
          rows={failures}
          keyOf={({ expectation }) => JSON.stringify(expectation)}
        />
      )}
      <FilesOf value={failures.map(({ actual }) => actual)} />
      {runId !== null && (
        <p>
          <Link href={`/runs/${runId}`}>Open run</Link>
        </p>
      )}
    </div>
  );
}

function columnsOf(labels: ReadonlyMap<string, string>): Column<Failure>[] {
  return [
    { heading: 'Of', isName: true, cell: ({ expectation }) => subjectOf(expectation, labels) },
    { heading: 'Expected', cell: ({ expectation }) => <Shown text={expectedOf(expectation)} /> },
    { heading: 'Actual', cell: ({ actual }) => <Shown text={toText(actual)} /> },
  ];
}

function subjectOf({ node, path }: Expectation, labels: ReadonlyMap<string, string>): string {
  const subject = node === undefined ? 'Output' : (labels.get(node) ?? node);
  return path === '' ? subject : `${subject}: ${path}`;
}

function expectedOf({ operator, right }: Expectation): string {
  if (operator === '==') return String(right ?? '');
  return [operator.replaceAll('_', ' '), right].filter((part) => part !== undefined).join(' ');
}

function Shown({ text }: { text: string }) {
  if (text === '') return <span className="case-empty">(empty)</span>;
  return <span className="case-value">{text}</span>;
}
