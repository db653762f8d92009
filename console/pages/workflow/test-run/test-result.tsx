import { useEffect, useRef, type ReactNode, type RefObject } from 'react';
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
import { originOfRun, type RequestedTest, type NodeTest, type Pin, type TestRun } from './test-store.js';
import { useTest, useTests } from './use-tests.js';
import { contentOfPin, MODE_WORDS, useChangePin } from './test-calls.js';
import './test-run.css';

interface TestResultProps {
  workflowId: number;
  projectId: number;
  pins: readonly Pin[];
  /** True in the wide view, which shows the pane even before there is a result. */
  isWide: boolean;
}

/** The last result of the selected node, and the outcome of the last test. */
export function TestResult({ workflowId, projectId, pins, isWide }: TestResultProps) {
  const selection = useEditor((state) => state.selection);
  const only = onlyNode(selection);
  const last = useTest((state) => state.last);
  const run = useTest((state) => state.run);
  const shown = useTest((state) => (only === undefined ? undefined : state.results.get(only)));
  const own = pins.filter(({ node_id: id }) => id === only);
  const pin = shown === undefined ? own[0] : own.find(({ path }) => path === (shown.entry.path ?? ''));
  const asked = last?.asked;
  const isOfTest = asked !== undefined && (asked.nodeId === only || shown?.runId === last?.runId);
  const pane = useScrollTo(asked && last?.runId);
  const isShown = isOfTest || shown !== undefined || pin !== undefined || (isWide && only !== undefined);
  return (
    <>
      {last !== undefined && asked === undefined && <EarlierTest key={last.runId} test={last} />}
      {last !== undefined && asked !== undefined && !isOfTest && (
        <section className="last-test" aria-label="Last test">
          <LastTest key={last.runId} test={last} asked={asked} isNamed />
        </section>
      )}
      {isShown && (
        <section className="test-result" aria-label="Test result" ref={pane}>
          <h2>{titleOf(shown, { test: isOfTest ? last?.runId : undefined, run }, pin !== undefined)}</h2>
          {last !== undefined && asked !== undefined && isOfTest && (
            <LastTest
              key={last.runId}
              test={last}
              asked={asked}
              isNamed={asked.nodeId !== only}
              isErrorBelow={shown?.runId === last.runId && shown.entry.status === 'failed'}
            />
          )}
          {only !== undefined && (
            <OfNode
              key={only}
              {...{ workflowId, projectId, pin, shown }}
              nodeId={only}
              isNamed={
                !(isOfTest && asked.mode === 'node' && asked.nodeId === only && (shown?.entry.path ?? '') === '')
              }
            />
          )}
        </section>
      )}
    </>
  );
}

/** Returns the heading of a result, which says where the result comes from. */
function titleOf(
  shown: NodeTest | undefined,
  known: { test: string | undefined; run: TestRun | undefined },
  isPinned: boolean,
): string {
  if (shown === undefined) return known.test !== undefined ? 'Test result' : isPinned ? 'Pinned result' : 'Result';
  if (shown.runId === known.test) return 'Test result';
  return `Result ${shown.runId === known.run?.runId ? originOfRun(known.run) : 'of an earlier test'}`;
}

/**
 * Follows a test that was started before the editor opened. Renders nothing: only its results are recorded, for the
 * canvas and the pane.
 */
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

interface LastTestProps {
  test: TestRun;
  asked: RequestedTest;
  /** True to name the node that was tested. */
  isNamed: boolean;
  /** True if the result of the node below shows the error. */
  isErrorBelow?: boolean;
}

/** The current or latest test. */
function LastTest({ test, asked, isNamed, isErrorBelow = false }: LastTestProps) {
  const { kinds } = useStore();
  const run = useRun(test.runId);
  const tested = labelOf(nodesOf(test.drawing ?? {}).get(asked.nodeId), kinds);
  const what = isNamed ? `${MODE_WORDS[asked.mode]}: ${tested}` : MODE_WORDS[asked.mode];
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
        <Followed test={test} run={run.data} what={what} isErrorBelow={isErrorBelow} />
      )}
    </div>
  );
}

interface FollowedProps {
  test: TestRun;
  run: RunDetail;
  what: string;
  isErrorBelow: boolean;
}

function Followed({ test, run, what, isErrorBelow }: FollowedProps) {
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
        <Link href={`/runs/${run.id}`}>Open run</Link>
      </div>
      {run.error !== null && !isErrorBelow && (
        <Note>
          <code>{run.error.code}</code> {run.error.message}
        </Note>
      )}
      {isOpen && error !== undefined && <Alert onRetry={retry}>{explain(error)}</Alert>}
      {isOpen && cancel.isError && <Alert onRetry={() => cancel.mutate()}>{explain(cancel.error)}</Alert>}
      {(isOpen || isWhole) && (
        <div className="test-result-line">
          {isOpen && (
            <Button variant="danger" isBusy={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
              Cancel test
            </Button>
          )}
          {isWhole && <SaveAsCase run={run} />}
        </div>
      )}
    </>
  );
}

interface OfNodeProps {
  workflowId: number;
  projectId: number;
  nodeId: string;
  pin: Pin | undefined;
  shown: NodeTest | undefined;
  /** False if the test above is of this node alone, so that a heading would add nothing. */
  isNamed: boolean;
}

function OfNode({ workflowId, projectId, nodeId, pin, shown, isNamed }: OfNodeProps) {
  const { isReadOnly, kinds } = useStore();
  const drawing = useEditor(({ history }) => history.present);
  const tests = useTests();
  const path = shown?.entry.path ?? pin?.path ?? '';
  const change = useChangePin(workflowId, { nodeId, path });
  const label = labelOf(nodesOf(drawing).get(nodeId), kinds);
  const { status } = shown?.entry ?? {};
  const hasEnded = status === 'succeed' || status === 'failed';
  return (
    <div className="test-result-part">
      {isNamed && (
        <div className="test-result-line">
          <h3>{label}</h3>
          {shown !== undefined && <Status status={shown.status} />}
          {path !== '' && <span>{iterationInWords(path, labelsOf(drawing, kinds))}</span>}
          {shown !== undefined && <Origin shown={shown} nodeId={nodeId} />}
        </div>
      )}
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
          {pin !== undefined && <Button onClick={() => tests.editPin(nodeId)}>Edit pin</Button>}
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
      {shown === undefined && pin === undefined && (
        <>
          <p className="test-muted">
            The node has no result yet. Try it, or write the result that tests take in its place.
          </p>
          {!isReadOnly && (
            <div className="test-result-line">
              <Button onClick={() => tests.editPin(nodeId)}>Write a pin</Button>
            </div>
          )}
        </>
      )}
      {pin !== undefined && <Pinned pin={pin} />}
    </div>
  );
}

/** Links to the run of the result. Renders nothing for the last test of this editor, which `Followed` links to. */
function Origin({ shown: { runId, entry }, nodeId }: { shown: NodeTest; nodeId: string }) {
  const last = useTest((state) => state.last);
  const run = useTest((state) => state.run);
  if (last?.asked !== undefined && last.runId === runId) return null;
  const place = new URLSearchParams({ node: nodeId, ...(entry.path !== undefined && { path: entry.path }) });
  return <Link href={`/runs/${runId}?${place}`}>{run?.runId === runId ? originOfRun(run) : 'of an earlier test'}</Link>;
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
  const path = entry.path ?? '';
  const pending = requests.filter(
    (request) => request.node_id === nodeId && request.path === path && request.status === 'pending',
  );
  return (
    <ResultTab
      address={{ runId, workflowId, nodeId, path }}
      projectId={projectId}
      entry={entry}
      detail={undefined}
      label={label}
      pending={pending}
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
