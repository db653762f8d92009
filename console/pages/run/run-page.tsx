import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState, type ReactNode, type Ref } from 'react';
import { Link } from 'wouter';
import { api, unwrap } from '../../service/api.js';
import { explain, isNotFound } from '../../service/explain.js';
import { Problem } from '../../service/problem.js';
import { byType, hasWriter, type NodeKinds } from '../../drawing/drawing.js';
import { RunGraph } from '../../live/run-graph.js';
import { readLinks, runLabels, type RunLinks } from '../../drawing/run-links.js';
import { parseNodeKey } from '../../live/live-run.js';
import { useAskingNode, useRunWord } from '../../live/run-cache.js';
import { useLiveRun } from '../../live/use-live-run.js';
import type { Connection } from '../../live/watch-run.js';
import { Duration, Money, RunningFor, Time } from '../../ui/figures.js';
import { Alert, announce, Loading, Note } from '../../ui/notices.js';
import { NotFound, PageHeader, useTitle } from '../../ui/page-header.js';
import { Status } from '../../ui/status.js';
import { useCancel } from '../../parts/run/cancel.js';
import type { NodeChoice } from '../../parts/run/node-choice.js';
import { failureOf } from '../../parts/run/outcome.js';
import { Refused } from '../../parts/run-input/refused.js';
import { NodePanel } from './node-panel.js';
import { useReRun } from './re-run.js';
import { RunActions } from './run-actions.js';
import { useRunAddress } from './run-address.js';
import { useRun, useRunningCost, type RunDetail } from '../../parts/run/run-data.js';
import './run-page.css';
import { RunResult } from './run-result.js';
import { runWord } from '../../live/run-word.js';
import { RunStory } from '../../parts/run/story.js';
import { Timeline } from './timeline.js';

export function RunPage({ runId }: { runId: string }) {
  const query = useRun(runId);
  // Loads the node kinds, which the graph needs, in parallel with the run.
  useKinds();
  if (query.data !== undefined) return <RunView run={query.data} />;
  if (query.isPending) return <Loading label="Loading the run" />;
  if (isNotFound(query.error)) {
    return <NotFound>There is no such run, or it is not shared with you.</NotFound>;
  }
  return (
    <>
      <PageHeader title="Run" />
      <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
    </>
  );
}

const Differences = lazy(() => import('./differences.js').then((module) => ({ default: module.Differences })));

function RunView({ run }: { run: RunDetail }) {
  const links = useMemo(() => readLinks(run.data), [run.data]);
  const labels = useMemo(() => runLabels(run.data), [run.data]);
  const isOpen = run.status === 'In Progress';
  const query = useRun(run.id);
  const kinds = useKinds();
  const withWords = useMemo(() => hasWriter(run.data, kinds), [run.data, kinds]);
  const { connection, error, retry } = useLiveRun({ runId: run.id, links, isOpen, withWords });
  const liveWord = useRunWord(run.id);
  const word = runWord(run, liveWord);
  useReloadAtStart(run, liveWord);
  const again = useReRun(run);
  const cancel = useCancel(run);
  const { choice, choose, otherId, compare } = useRunAddress(run);
  const asking = useAskingNode(run.id);
  // If the address names no node, a node that waits for a person is selected: the person need not look for it.
  const shown = choice ?? (asking === undefined ? undefined : parseNodeKey(asking));
  const panel = useRef<HTMLElement>(null);
  const show = useCallback(
    (next: NodeChoice | string) => {
      choose(next);
      // On narrow screens the details are below the graph and the timeline.
      if (matchMedia(NARROW).matches) requestAnimationFrame(() => panel.current?.scrollIntoView({ block: 'start' }));
    },
    [choose],
  );
  return (
    <div className="page-full run-page">
      <RunHeader
        run={run}
        word={word}
        isOpen={isOpen}
        actions={<RunActions run={run} labels={labels} again={again} cancel={cancel} onCompare={compare} />}
        story={<RunStory {...{ run, word, isOpen, labels, links }} onSelect={show} />}
      />
      <div className="run-body">
        {again.isError && <Refused error={again.error} labels={labels} onRetry={() => again.mutate({})} />}
        {isOpen && cancel.isError && <Alert onRetry={() => cancel.mutate()}>{explain(cancel.error)}</Alert>}
        {isOpen && error !== undefined && <Alert onRetry={retry}>{explain(error)}</Alert>}
        <Problem error={query.error} onRetry={() => void query.refetch()} isRetrying={query.isFetching} />
        <RunNotes run={run} />
        {otherId !== undefined && (
          <Suspense fallback={<Loading />}>
            <Differences run={run} otherId={otherId} onClose={() => compare(undefined)} />
          </Suspense>
        )}
        <RunPanes run={run} isOpen={isOpen} links={links} labels={labels} choice={shown} show={show} panel={panel} />
      </div>
      {isOpen && <ConnectionNote connection={connection} />}
    </div>
  );
}

/**
 * Reloads the run when it leaves the queue, because a queued run has no start time. The timeline begins at the start
 * time of the run, so loading that time later would move the bars.
 */
function useReloadAtStart(run: RunDetail, liveWord: string | undefined): void {
  const client = useQueryClient();
  const hasStarted = run.status === 'In Progress' && run.run_started_at === null && liveWord === 'in progress';
  useEffect(() => {
    if (hasStarted) void client.invalidateQueries({ queryKey: ['run', run.id], exact: true });
  }, [client, run.id, hasStarted]);
}

interface RunHeaderProps {
  run: RunDetail;
  /** Status of the run as `runWord` returns it. */
  word: string;
  isOpen: boolean;
  actions: ReactNode;
  /** Description of the run's events so far. */
  story: ReactNode;
}

function RunHeader({ run, word, isOpen, actions, story }: RunHeaderProps) {
  const cost = useRunningCost(run, isOpen);
  useTitle(`${run.workflow.title}, ${word}`);
  // Announces each change of the run's status in the page's live region.
  useEffect(() => announce(`Run ${word}`), [word]);
  return (
    <header className="run-header">
      <div className="run-header-name">
        <h1>{run.workflow.title}</h1>
        <Status status={word} />
      </div>
      {story}
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
        <Fact name="Workflow">
          <Link href={`/workflows/${run.workflow.id}`}>
            {run.workflow_version === null ? 'Unsaved drawing' : `Version ${run.workflow_version}`}
          </Link>
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
      <div className="run-header-actions" data-commands>
        {actions}
      </div>
    </header>
  );
}

/** Returns the address of the node that started this run, on the page of the parent run. */
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

function RunNotes({ run }: { run: RunDetail }) {
  return (
    <>
      {run.error?.code === 'budget_exceeded' && (
        <Note>
          <Budget run={run} />
        </Note>
      )}
      {run.results_expired_at !== undefined && (
        <Note>
          The results of this run have expired: their contents were removed on <Time at={run.results_expired_at} />.
        </Note>
      )}
    </>
  );
}

/** Explains `budget_exceeded` and links to the limits. */
function Budget({ run: { workflow, project } }: { run: RunDetail }) {
  return (
    <>
      The run was stopped before a model call that could have passed a limit of money. These can be changed:{' '}
      <Link href={`/costs?project=${project.id}`}>the limit of the project</Link>, that of a run in the menu of{' '}
      <Link href={`/workflows/${workflow.id}`}>the workflow</Link>, and that of an agent in its node.
    </>
  );
}

interface RunPanesProps {
  run: RunDetail;
  isOpen: boolean;
  links: RunLinks;
  labels: ReadonlyMap<string, string>;
  choice: NodeChoice | undefined;
  show: (choice: NodeChoice | string) => void;
  panel: Ref<HTMLElement>;
}

/** Must match the breakpoint in run-page.css. */
const NARROW = '(max-width: 900px)';

function RunPanes({ run, isOpen, links, labels, choice, show, panel }: RunPanesProps) {
  const kinds = useKinds();
  const first = useMemo(() => failureOf(run)?.id ?? links.start, [run, links]);
  return (
    <div className="run-panes">
      <section aria-label="Graph" className="run-graph-pane">
        <RunGraph
          runId={run.id}
          drawing={run.data}
          links={links}
          kinds={kinds}
          selected={choice?.nodeId}
          first={first}
          onSelect={show}
        />
      </section>
      <Timeline run={run} isOpen={isOpen} labels={labels} selected={choice} onSelect={show} />
      <div className="run-side">
        <RunResult run={run} links={links} labels={labels} choice={choice} onSelect={show} />
        <NodePanel run={run} labels={labels} choice={choice} onSelect={show} ref={panel} />
      </div>
    </div>
  );
}

const BACK_MS = 5_000;

/** Shown while the connection is lost, and briefly after it is back. */
function ConnectionNote({ connection }: { connection: Connection }) {
  const [shown, setShown] = useState<'lost' | 'back'>();
  const next = connection === 'lost' ? 'lost' : connection === 'connecting' || shown !== 'lost' ? shown : 'back';
  if (next !== shown) setShown(next);
  useEffect(() => {
    if (shown !== undefined) announce(SENTENCES[shown]);
    if (shown !== 'back') return undefined;
    const timer = setTimeout(() => setShown(undefined), BACK_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  if (shown === undefined) return null;
  return <p className={`connection-note connection-note-${shown}`}>{SENTENCES[shown]}</p>;
}

const SENTENCES = {
  lost: 'The connection is lost. What you see may be out of date; the page tries to connect again.',
  back: 'The connection is back.',
} as const;

/** Returns the kinds of nodes by `type`, empty until they are loaded. */
function useKinds(): NodeKinds {
  const { data } = useQuery({
    queryKey: ['node-kinds'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/workflows/get_nodes/', { signal })),
    staleTime: Infinity,
  });
  return useMemo(() => byType(data ?? []), [data]);
}
