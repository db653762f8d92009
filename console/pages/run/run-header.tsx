import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Duration, Money, RunningFor, Time } from '../../ui/figures.js';
import { announce } from '../../ui/notices.js';
import { useTitle } from '../../ui/page-header.js';
import { Status } from '../../ui/status.js';
import { useRunningCost, type RunDetail } from './run-data.js';
import './run-header.css';

interface RunHeaderProps {
  run: RunDetail;
  /** The status of the run in the console's words. */
  word: string;
  isOpen: boolean;
  actions: ReactNode;
}

export function RunHeader({ run, word, isOpen, actions }: RunHeaderProps) {
  const cost = useRunningCost(run, isOpen);
  useTitle(`${run.workflow.title}, ${word}`);
  // The one live region of the page tells of every change of the run's status.
  useEffect(() => announce(`Run ${word}`), [word]);
  return (
    <header className="run-header">
      <div className="run-header-name">
        <h1>{run.workflow.title}</h1>
        <Status status={word} />
      </div>
      <dl className="run-header-facts">
        <Fact name="Started">
          <Time at={run.run_started_at ?? run.created_at} />
        </Fact>
        <Fact name="Duration">
          {isOpen && run.run_started_at !== null ? (
            <RunningFor since={run.run_started_at} />
          ) : (
            <Duration ms={run.duration === null ? null : run.duration * 1000} />
          )}
        </Fact>
        <Fact name="Cost">
          <Money amount={cost} />
        </Fact>
        {!isOpen && run.total_cost['USD'] !== run.cost['USD'] && (
          <Fact name="With sub-workflows">
            <Money amount={run.total_cost} />
          </Fact>
        )}
        <Fact name="Workflow">
          <Link href={`/workflows/${run.workflow.id}`}>Version {run.workflow_version}</Link>
        </Fact>
        <Fact name="Project">{run.project.name}</Fact>
        {run.parent_run_id !== null && (
          <Fact name="Started by">
            <Link href={parentAddress(run)}>Another run</Link>
          </Fact>
        )}
        {run.resumed_from !== null && (
          <Fact name="Resumes">
            <Link href={`/runs/${run.resumed_from}`}>An earlier run</Link>
          </Fact>
        )}
        {run.temporal_url !== undefined && (
          <Fact name="Operators">
            <a href={run.temporal_url} target="_blank" rel="noopener noreferrer">
              Open in Temporal
            </a>
          </Fact>
        )}
      </dl>
      <div className="run-header-actions">{actions}</div>
    </header>
  );
}

/** The node that has started the run, on the page of its run. */
function parentAddress({ parent_run_id: id, parent_node_id: node, parent_path: path }: RunDetail): string {
  const place = new URLSearchParams({ node: node ?? '', ...(path === null || path === '' ? {} : { path }) });
  return `/runs/${id}?${place.toString()}`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="run-header-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
