import { useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Link } from 'wouter';
import { explain } from '../../app/explain.js';
import { Problem } from '../../app/problem.js';
import { dataOf, labelOf, nodesOf, type Drawing } from '../../drawing/drawing.js';
import { onlyNode, useEditor, useStore } from '../../drawing/editor-store.js';
import { isSameJson } from '../../drawing/json.js';
import { FilesOf } from '../../files/file-figure.js';
import { readLinks } from '../../drawing/run-links.js';
import { useLive, useRunWord } from '../../live/run-cache.js';
import { useLiveRun } from '../../live/use-live-run.js';
import { Button } from '../../ui/button.js';
import { Money } from '../../ui/figures.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import { Status } from '../../ui/status.js';
import { JsonTree } from '../run/json-tree.js';
import { ResultTab } from '../run/result-tab.js';
import { useCancel } from '../run/run-actions.js';
import { useApprovals, useRun, type RunDetail } from '../run/run-data.js';
import { runWord } from '../run/run-word.js';
import { SaveAsCase } from '../cases/save-as-case.js';
import { PinDialog } from './pin-dialog.js';
import { useTrial, useTrials, type NodeTrial, type Trial } from './trial-store.js';
import { contentOfPin, MODE_WORDS, useChangePin, type Pin } from './trying-calls.js';
import './trying.css';

interface TestResultProps {
  workflowId: number;
  projectId: number;
  pins: readonly Pin[];
}

/** What the last test has found out: of the test as a whole, and of the chosen node. */
export function TestResult({ workflowId, projectId, pins }: TestResultProps) {
  const selection = useEditor((state) => state.selection);
  const only = onlyNode(selection);
  const last = useTrial((state) => state.last);
  const shown = useTrial((state) => (only === undefined ? undefined : state.results.get(only)));
  const pin = pins.find(({ node_id: id, path }) => id === only && path === '');
  const pane = useScrollTo(last?.runId);
  if (last === undefined && shown === undefined && pin === undefined) return null;
  return (
    <section className="test-result" aria-label="Test result" ref={pane}>
      <h2>Test result</h2>
      {last !== undefined && <LastTrial key={last.runId} trial={last} />}
      {only !== undefined && (
        <OfNode
          key={only}
          {...{ workflowId, projectId, pin, shown }}
          nodeId={only}
          isLast={shown?.runId === last?.runId}
        />
      )}
    </section>
  );
}

/** On a narrow screen the results are below the form, so a new test scrolls to them. */
function useScrollTo(runId: string | undefined): RefObject<HTMLElement | null> {
  const pane = useRef<HTMLElement>(null);
  const known = useRef(runId);
  useEffect(() => {
    if (known.current === runId) return;
    known.current = runId;
    if (matchMedia('(max-width: 900px)').matches) pane.current?.scrollIntoView({ block: 'start' });
  }, [runId]);
  return pane;
}

/** The test that runs, or that has run last. */
function LastTrial({ trial }: { trial: Trial }) {
  const { kinds } = useStore();
  const run = useRun(trial.runId);
  const what = `${MODE_WORDS[trial.mode]}: ${labelOf(nodesOf(trial.drawing).get(trial.nodeId), kinds)}`;
  return (
    <div className="test-result-part">
      {run.data === undefined ? (
        <>
          <p>{what}</p>
          {run.error === null ? (
            <Loading label="Testing" />
          ) : (
            <Problem error={run.error} onRetry={() => void run.refetch()} isRetrying={run.isFetching} />
          )}
        </>
      ) : (
        <Followed trial={trial} run={run.data} what={what} />
      )}
    </div>
  );
}

function Followed({ trial, run, what }: { trial: Trial; run: RunDetail; what: string }) {
  const links = useMemo(() => readLinks(run.data), [run.data]);
  const isOpen = run.status === 'In Progress';
  const { error, retry } = useLiveRun({ runId: run.id, links, isOpen });
  const word = runWord(run, useRunWord(run.id));
  const cancel = useCancel(run);
  const trials = useTrials();
  const live = useLive(run.id);
  useEffect(() => {
    if (live !== undefined) trials.record(trial, live);
  }, [trials, trial, live]);
  useEffect(() => announce(`Test ${word}`), [word]);
  return (
    <>
      <div className="test-result-line">
        <Status status={word} />
        <span>{what}</span>
        {!isOpen && <Money amount={run.cost} />}
      </div>
      {run.error !== null && (
        <Note>
          <code>{run.error.code}</code> {run.error.message}
        </Note>
      )}
      {isOpen && error !== undefined && <Alert onRetry={retry}>{explain(error)}</Alert>}
      {isOpen && cancel.isError && <Alert onRetry={() => cancel.mutate()}>{explain(cancel.error)}</Alert>}
      <div className="test-result-line">
        {isOpen && (
          <Button variant="danger" isBusy={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
            Cancel test
          </Button>
        )}
        {trial.isWhole && <SaveAsCase run={run} />}
        <Link href={`/runs/${run.id}`}>Open run</Link>
      </div>
    </>
  );
}

interface OfNodeProps {
  workflowId: number;
  projectId: number;
  nodeId: string;
  pin: Pin | undefined;
  shown: NodeTrial | undefined;
  /** Whether the last test has this result. */
  isLast: boolean;
}

function OfNode({ workflowId, projectId, nodeId, pin, shown, isLast }: OfNodeProps) {
  const { isReadOnly, kinds } = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const [isEditing, setIsEditing] = useState(false);
  const change = useChangePin(workflowId, nodeId);
  const label = labelOf(nodesOf(drawing).get(nodeId), kinds);
  const { status } = shown?.entry ?? {};
  const hasEnded = status === 'succeed' || status === 'failed';
  return (
    <div className="test-result-part">
      <div className="test-result-line">
        <h3>{label}</h3>
        {shown !== undefined && <Status status={shown.status} />}
        {shown !== undefined && !isLast && (
          <Link href={`/runs/${shown.runId}?node=${encodeURIComponent(nodeId)}`}>of an earlier test</Link>
        )}
      </div>
      {!isReadOnly && (hasEnded || pin !== undefined) && (
        <div className="test-result-line">
          {hasEnded && (
            <Button isBusy={change.isPending} onClick={() => change.mutate({ from_run: shown!.runId })}>
              Pin result
            </Button>
          )}
          {pin !== undefined && <Button onClick={() => setIsEditing(true)}>Edit pin</Button>}
          {pin !== undefined && (
            <Button isBusy={change.isPending} onClick={() => change.mutate(null)}>
              Remove pin
            </Button>
          )}
        </div>
      )}
      <Problem error={change.error} />
      {hasEnded && isChanged(shown!.drawing, drawing, nodeId) && <Note>The node has changed since.</Note>}
      {shown !== undefined && <Outcome {...{ workflowId, projectId, nodeId, shown, label }} />}
      {pin !== undefined && <Pinned pin={pin} />}
      {isEditing && pin !== undefined && (
        <PinDialog workflowId={workflowId} pin={pin} label={label} onClose={() => setIsEditing(false)} />
      )}
    </div>
  );
}

function isChanged(then: Drawing, now: Drawing, nodeId: string): boolean {
  return then !== now && !isSameJson(dataOf(nodesOf(then).get(nodeId)), dataOf(nodesOf(now).get(nodeId)));
}

interface OutcomeProps {
  workflowId: number;
  projectId: number;
  nodeId: string;
  shown: NodeTrial;
  label: string;
}

function Outcome({ workflowId, projectId, nodeId, shown: { runId, entry }, label }: OutcomeProps) {
  const requests = useApprovals(runId).data ?? [];
  return (
    <ResultTab
      address={{ runId, workflowId, nodeId, path: '' }}
      projectId={projectId}
      entry={entry}
      detail={undefined}
      label={label}
      pending={requests.filter((request) => request.node_id === nodeId && request.status === 'pending')}
      expiredAt={undefined}
    />
  );
}

function Pinned({ pin }: { pin: Pin }): ReactNode {
  return (
    <div className="test-result-part">
      <h3>Pinned</h3>
      <p className="trying-muted">
        {pin.is_stale
          ? 'The node, or something before it, has changed since this was pinned.'
          : 'Tests take this in place of executing the node. No other run reads it.'}
      </p>
      <JsonTree value={contentOfPin(pin)} depth={1} />
      <FilesOf value={contentOfPin(pin)} />
    </div>
  );
}
