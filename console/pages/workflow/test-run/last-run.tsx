import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../../service/explain.js';
import { Problem } from '../../../service/problem.js';
import { labelsOf } from '../../../drawing/drawing.js';
import { useEditor, useStore } from '../../../drawing/editor-store.js';
import { Button } from '../../../ui/button.js';
import { Alert, Loading } from '../../../ui/notices.js';
import { useCancel } from '../../../parts/run/cancel.js';
import { useRun, type RunDetail } from '../../../parts/run/run-data.js';
import { isUnfinished, mayResume, ResumeDialog } from '../../../parts/run/resume.js';
import { RunStory } from '../../../parts/run/story.js';
import { saveFirst, type Saver } from '../saver.js';
import { useFollowed } from './follow.js';
import type { TestRun } from './test-store.js';
import { useTest, useTests } from './use-tests.js';
import './test-run.css';

/** One line about the latest or the chosen run of the workflow, below the canvas. */
export function LastRun({ saver }: { saver: Saver }) {
  const test = useTest((state) => state.run);
  if (test === undefined) return null;
  const name = test.isEarlier === true ? 'Earlier run' : 'Last run';
  return (
    <section className="last-run" aria-label={name}>
      <h2>{name}</h2>
      <Run key={test.runId} test={test} saver={saver} />
      <Link href={`/runs/${test.runId}`}>Open run</Link>
    </section>
  );
}

function Run({ test, saver }: { test: TestRun; saver: Saver }) {
  const run = useRun(test.runId);
  if (run.data !== undefined) return <FollowedRun test={test} run={run.data} saver={saver} />;
  if (run.error === null) return <Loading label="Running" />;
  return <Problem error={run.error} onRetry={() => void run.refetch()} isRetrying={run.isFetching} />;
}

function FollowedRun({ test, run, saver }: { test: TestRun; run: RunDetail; saver: Saver }) {
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
      {!store.isReadOnly && mayResume(run) && isUnfinished(run) && <Resume run={run} labels={labels} saver={saver} />}
    </>
  );
}

interface ResumeProps {
  run: RunDetail;
  labels: ReadonlyMap<string, string>;
  saver: Saver;
}

/** Resumes the unfinished run, with its own drawing or the editor's. The editor then follows the new run. */
function Resume({ run, labels, saver }: ResumeProps) {
  const tests = useTests();
  const store = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const isDirty = useEditor((state) => state.isDirty);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button variant="primary" onClick={() => setIsOpen(true)}>
        Resume
      </Button>
      {isOpen && (
        <ResumeDialog
          run={run}
          labels={labels}
          edited={{ drawing, isDirty, save: () => saveFirst(saver) }}
          onStarted={(runId, wish) =>
            tests.startRun({ runId, drawing: wish.drawing === 'now' ? store.getState().saved : run.data })
          }
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}
