import { useMemo } from 'react';
import { Link } from 'wouter';
import { explain } from '../../../service/explain.js';
import { Problem } from '../../../service/problem.js';
import { labelsOf } from '../../../drawing/drawing.js';
import { useEditor, useStore } from '../../../drawing/editor-store.js';
import { Button } from '../../../ui/button.js';
import { Alert, Loading } from '../../../ui/notices.js';
import { useCancel } from '../../../parts/run/cancel.js';
import { useRun, type RunDetail } from '../../../parts/run/run-data.js';
import { RunStory } from '../../../parts/run/story.js';
import { useFollowed } from './follow.js';
import type { TestRun } from './test-store.js';
import { useTest } from './use-tests.js';
import './test-run.css';

/** One line about the latest run of the workflow, or the chosen one, below the canvas. */
export function LastRun() {
  const test = useTest((state) => state.run);
  if (test === undefined) return null;
  const name = test.isEarlier === true ? 'Earlier run' : 'Last run';
  return (
    <section className="last-run" aria-label={name}>
      <h2>{name}</h2>
      <Run key={test.runId} test={test} />
      <Link href={`/runs/${test.runId}`}>Open run</Link>
    </section>
  );
}

function Run({ test }: { test: TestRun }) {
  const run = useRun(test.runId);
  if (run.data !== undefined) return <FollowedRun test={test} run={run.data} />;
  if (run.error === null) return <Loading label="Running" />;
  return <Problem error={run.error} onRetry={() => void run.refetch()} isRetrying={run.isFetching} />;
}

function FollowedRun({ test, run }: { test: TestRun; run: RunDetail }) {
  const store = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const labels = useMemo(() => labelsOf(drawing, store.kinds), [drawing, store]);
  const { links, isOpen, word, error, retry } = useFollowed(test, run, 'Run');
  const cancel = useCancel(run);
  return (
    <>
      <RunStory {...{ run, word, isOpen, labels, links }} onSelect={({ nodeId }) => store.select([nodeId])} />
      {isOpen && error !== undefined && <Alert onRetry={retry}>{explain(error)}</Alert>}
      {isOpen && cancel.isError && <Alert onRetry={() => cancel.mutate()}>{explain(cancel.error)}</Alert>}
      {isOpen && !store.isReadOnly && (
        <Button variant="danger" isBusy={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
          Cancel run
        </Button>
      )}
    </>
  );
}
