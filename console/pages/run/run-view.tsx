import { lazy, Suspense, useMemo } from 'react';
import { isObject } from '../../drawing/json.js';
import { explain } from '../../app/explain.js';
import { labelOf } from '../../drawing/run-graph.js';
import { readLinks } from '../../drawing/run-links.js';
import { useRunWord } from '../../live/run-cache.js';
import { useLiveRun } from '../../live/use-live-run.js';
import { Alert, Loading } from '../../ui/notices.js';
import { Refused } from './actions/refused.js';
import { RunActions } from './actions/run-actions.js';
import { useCancel } from './actions/use-cancel.js';
import { useReRun } from './actions/use-re-run.js';
import { ConnectionNote } from './connection-note.js';
import { useRun, type RunDetail } from './run-data.js';
import { RunHeader } from './run-header.js';
import { RunNotes } from './run-notes.js';
import { RunPanes } from './run-panes.js';
import './run-view.css';
import { runWord } from './run-word.js';
import { useRunAddress } from './use-run-address.js';

const Differences = lazy(() => import('./compare/differences.js').then((module) => ({ default: module.Differences })));

/** A run as it goes on, or as it was. */
export function RunView({ run }: { run: RunDetail }) {
  const links = useMemo(() => readLinks(run.data), [run.data]);
  const labels = useMemo(() => toLabels(run.data), [run.data]);
  const isOpen = run.status === 'In Progress';
  const query = useRun(run.id);
  const { connection, error, retry } = useLiveRun({ runId: run.id, links, isOpen });
  const word = runWord(run, useRunWord(run.id));
  const again = useReRun(run);
  const cancel = useCancel(run);
  const { choice, choose, otherId, compare } = useRunAddress(run);
  return (
    <div className="page-full run-page">
      <RunHeader
        run={run}
        word={word}
        isOpen={isOpen}
        actions={<RunActions run={run} labels={labels} again={again} cancel={cancel} onCompare={compare} />}
      />
      <div className="run-body">
        {again.isError && <Refused error={again.error} labels={labels} onRetry={() => again.mutate({})} />}
        {isOpen && cancel.isError && <Alert onRetry={() => cancel.mutate()}>{explain(cancel.error)}</Alert>}
        {isOpen && error !== undefined && <Alert onRetry={retry}>{explain(error)}</Alert>}
        {query.isError && (
          <Alert onRetry={() => void query.refetch()} isRetrying={query.isFetching}>
            {explain(query.error)}
          </Alert>
        )}
        <RunNotes run={run} labels={labels} />
        {otherId !== undefined && (
          <Suspense fallback={<Loading />}>
            <Differences run={run} otherId={otherId} onClose={() => compare(undefined)} />
          </Suspense>
        )}
        <RunPanes run={run} isOpen={isOpen} links={links} labels={labels} choice={choice} choose={choose} />
      </div>
      {isOpen && <ConnectionNote connection={connection} />}
    </div>
  );
}

function toLabels(drawing: Record<string, unknown>): ReadonlyMap<string, string> {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  return new Map(nodes.map((node) => [String(node['id']), labelOf(node)]));
}
