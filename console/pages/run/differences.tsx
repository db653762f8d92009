import { useMemo } from 'react';
import { Link } from 'wouter';
import { isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/figures.js';
import { Loading, Note } from '../../ui/notices.js';
import './differences.css';
import { useRun, type RunDetail } from '../../parts/run/run-data.js';
import { DifferenceList } from '../../parts/differences/difference-list.js';
import { compareRuns } from '../../parts/differences/run-differences.js';

interface DifferencesProps {
  run: RunDetail;
  otherId: string;
  onClose: () => void;
}

/** Compares the run with another one. Shows only the differences, in two columns. */
export function Differences({ run, otherId, onClose }: DifferencesProps) {
  const other = useRun(otherId);
  return (
    <section aria-label="Differences" className="differences">
      <header className="differences-head">
        <h2>Differences</h2>
        <Button variant="quiet" onClick={onClose}>
          Close comparison
        </Button>
      </header>
      {other.isPending && <Loading label="Loading the other run" />}
      {other.isError && isNotFound(other.error) && (
        <Note>The run to compare with is not found: it does not exist, or it is not shared with you.</Note>
      )}
      {other.isError && !isNotFound(other.error) && (
        <Problem error={other.error} onRetry={() => void other.refetch()} isRetrying={other.isFetching} />
      )}
      {other.data !== undefined && <Compared left={run} right={other.data} />}
    </section>
  );
}

function Compared({ left, right }: { left: RunDetail; right: RunDetail }) {
  const found = useMemo(() => compareRuns(left, right), [left, right]);
  const sections = [
    { title: 'Outcome', differences: found.outcome },
    { title: 'Input', differences: found.input },
    { title: 'Cost', differences: found.cost },
    { title: 'Time in seconds', differences: found.time },
    { title: 'Definition', differences: found.definition },
    ...found.nodes.map(({ id, label, differences }) => ({ key: id, title: `Node ${label}`, differences })),
  ].filter(({ differences }) => differences.length > 0);
  return (
    <>
      {left.workflow.id !== right.workflow.id && (
        <Note>
          The other run is one of another workflow: <Link href={`/runs/${right.id}`}>{right.workflow.title}</Link>.
        </Note>
      )}
      <div className="differences-runs">
        <span>
          This run: <Time at={left.run_started_at ?? left.created_at} />
        </span>
        <span>
          Other run:{' '}
          <Link href={`/runs/${right.id}`}>
            <Time at={right.run_started_at ?? right.created_at} />
          </Link>
        </span>
      </div>
      {sections.length === 0 && <p>The two runs do not differ.</p>}
      {sections.map((section) => (
        <DifferenceList
          key={'key' in section ? section.key : section.title}
          title={section.title}
          differences={section.differences}
          sides={SIDES}
        />
      ))}
    </>
  );
}

const SIDES = ['This run', 'Other run'] as const;
