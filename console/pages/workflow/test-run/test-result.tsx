import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Link } from 'wouter';
import { explain } from '../../../service/explain.js';
import { Problem } from '../../../service/problem.js';
import { labelOf, labelsOf, nodesOf, startOf } from '../../../drawing/drawing.js';
import { onlyNode, useEditor, useStore } from '../../../drawing/editor-store.js';
import { FilesOf } from '../../../files/file-figure.js';
import { Button } from '../../../ui/button.js';
import { Money } from '../../../ui/figures.js';
import { Alert, Loading, Note } from '../../../ui/notices.js';
import { Status } from '../../../ui/status.js';
import { JsonTree } from '../../../parts/node-result/json-tree.js';
import { ResultTab } from '../../../parts/node-result/result-tab.js';
import { useCancel } from '../../../parts/run/cancel.js';
import { useApprovals, useRun, type RunDetail } from '../../../parts/run/run-data.js';
import { iterationInWords } from '../../../parts/run/node-choice.js';
import { SaveAsCase } from '../../../parts/cases/save-as-case.js';
import { isChanged } from './changed.js';
import { useFollowed } from './follow.js';
import { PinDialog } from './pin-dialog.js';
import type { RequestedTest, NodeTest, Pin, TestRun } from './test-store.js';
import { useTest } from './use-tests.js';
import { contentOfPin, MODE_WORDS, useChangePin } from './test-calls.js';
import './test-run.css';

interface TestResultProps {
  workflowId: number;
  projectId: number;
  pins: readonly Pin[];
}

/** Outcome of the last test, and the last result of the selected node. */
export function TestResult({ workflowId, projectId, pins }: TestResultProps) {
  const selection = useEditor((state) => state.selection);
  const only = onlyNode(selection);
  const last = useTest((state) => state.last);
  const shown = useTest((state) => (only === undefined ? undefined : state.results.get(only)));
  const own = pins.filter(({ node_id: id }) => id === only);
  const pin = shown === undefined ? own[0] : own.find(({ path }) => path === (shown.entry.path ?? ''));
  const asked = last?.asked;
  const pane = useScrollTo(asked && last?.runId);
  return (
    <>
      {last !== undefined && asked === undefined && <EarlierTest key={last.runId} test={last} />}
      {(asked !== undefined || shown !== undefined || pin !== undefined) && (
        <section className="test-result" aria-label="Test result" ref={pane}>
          <h2>Test result</h2>
          {last !== undefined && asked !== undefined && <LastTest key={last.runId} test={last} asked={asked} />}
          {only !== undefined && <OfNode key={only} {...{ workflowId, projectId, pin, shown }} nodeId={only} />}
        </section>
      )}
    </>
  );
}

/** Follows a test that was started before the editor opened. It only updates the canvas. */
function EarlierTest({ test }: { test: TestRun }) {
  const run = useRun(test.runId);
  return run.data && <SilentlyFollowed test={test} run={run.data} />;
}

function SilentlyFollowed({ test, run }: { test: TestRun; run: RunDetail }) {
  useFollowed(test, run, 'Test');
  return null;
}

/** On narrow screens the results are below the form, so a new test scrolls to them. */
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

/** The current or latest test. */
function LastTest({ test, asked }: { test: TestRun; asked: RequestedTest }) {
  const { kinds } = useStore();
  const run = useRun(test.runId);
  const what = `${MODE_WORDS[asked.mode]}: ${labelOf(nodesOf(test.drawing ?? {}).get(asked.nodeId), kinds)}`;
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
        <Followed test={test} run={run.data} what={what} />
      )}
    </div>
  );
}

function Followed({ test, run, what }: { test: TestRun; run: RunDetail; what: string }) {
  const { isOpen, word, error, retry } = useFollowed(test, run, 'Test');
  const cancel = useCancel(run);
  const { asked, drawing } = test;
  const isWhole = asked?.mode === 'from' && drawing !== undefined && asked.nodeId === startOf(drawing);
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
        {isWhole && <SaveAsCase run={run} />}
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
  shown: NodeTest | undefined;
}

function OfNode({ workflowId, projectId, nodeId, pin, shown }: OfNodeProps) {
  const { isReadOnly, kinds } = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const [isEditing, setIsEditing] = useState(false);
  const path = shown?.entry.path ?? pin?.path ?? '';
  const change = useChangePin(workflowId, { nodeId, path });
  const label = labelOf(nodesOf(drawing).get(nodeId), kinds);
  const { status } = shown?.entry ?? {};
  const hasEnded = status === 'succeed' || status === 'failed';
  return (
    <div className="test-result-part">
      <div className="test-result-line">
        <h3>{label}</h3>
        {shown !== undefined && <Status status={shown.status} />}
        {path !== '' && <span>{iterationInWords(path, labelsOf(drawing, kinds))}</span>}
        {shown !== undefined && <Origin shown={shown} nodeId={nodeId} />}
      </div>
      {!isReadOnly && (hasEnded || pin !== undefined) && (
        <div className="test-result-line">
          {hasEnded && (
            <Button
              isBusy={change.isPending}
              onClick={() => change.mutate({ from_run: shown!.runId, ...(path !== '' && { path }) })}
            >
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
      {hasEnded && isChanged(shown!.drawing, drawing, nodeId, kinds) && <Note>The node has changed since.</Note>}
      {shown !== undefined && <Outcome {...{ workflowId, projectId, nodeId, shown, label }} />}
      {pin !== undefined && <Pinned pin={pin} />}
      {isEditing && pin !== undefined && (
        <PinDialog workflowId={workflowId} pin={pin} label={label} onClose={() => setIsEditing(false)} />
      )}
    </div>
  );
}

/** Links to the run that has the result, unless it is the last test. */
function Origin({ shown: { runId, entry }, nodeId }: { shown: NodeTest; nodeId: string }) {
  const last = useTest((state) => state.last);
  const run = useTest((state) => state.run);
  if (last?.asked !== undefined && last.runId === runId) return null;
  const place = new URLSearchParams({ node: nodeId, ...(entry.path !== undefined && { path: entry.path }) });
  return (
    <Link href={`/runs/${runId}?${place}`}>{run?.runId === runId ? 'of the last run' : 'of an earlier test'}</Link>
  );
}

interface OutcomeProps {
  workflowId: number;
  projectId: number;
  nodeId: string;
  shown: NodeTest;
  label: string;
}

function Outcome({ workflowId, projectId, nodeId, shown: { runId, entry }, label }: OutcomeProps) {
  const requests = useApprovals(runId).data ?? [];
  return (
    <ResultTab
      address={{ runId, workflowId, nodeId, path: entry.path ?? '' }}
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
      <p className="test-muted">
        {pin.is_stale
          ? 'The node, or something before it, has changed since this was pinned.'
          : 'Tests take this in place of executing the node. No other run reads it.'}
      </p>
      <JsonTree value={contentOfPin(pin)} depth={1} />
      <FilesOf value={contentOfPin(pin)} />
    </div>
  );
}
